// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// savePlan writes a plan file.
func (s *session) savePlan(path string, plan *stackplan.Plan, config *stackconfig.Config, stored *storedState) error {
	files, err := configFiles(config, plan.Engine)
	if err != nil {
		return fail("Plan was not saved", "%s.", upperFirst(reason(err)))
	}
	err = stackplan.WriteFile(path, plan, stackplan.FileContext{
		CairnVersion: version(),
		ConfigHash:   files.Hash(),
		ConfigFiles:  files,
		StateLineage: stored.Lineage,
		StateSerial:  uint64(stored.Serial),
		Deployment:   s.deployment,
		Stack:        stackIdentity(config.Root.Dir),
	})
	if err != nil {
		return fail("Plan was not saved", "The plan file cannot be written: %s.", reason(err))
	}
	return nil
}

// checkOut refuses to put a plan in the place of something that is no plan. What is empty, or no regular file, is fine.
func checkOut(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // there is none, or writing it will say what is wrong
	case info.IsDir():
		return fail("Plan cannot be saved there", "%s is a directory. Give the name of a file, for example: -out=%s", path, filepath.Join(path, "stack.plan"))
	case !info.Mode().IsRegular() || info.Size() == 0:
		return nil
	}
	if _, _, err := stackplan.ReadFile(path); errors.Is(err, stackplan.ErrNotPlan) {
		return fail("Plan cannot be saved there", "There is a file %s already, which is not a plan file and would be overwritten. "+
			"Give another name, for example -out=stack.plan, or delete that file first.", path)
	}
	return nil
}

// readPlan reads a plan file.
func readPlan(path string) (*stackplan.Plan, stackplan.FileContext, error) {
	plan, made, err := stackplan.ReadFile(path)
	var version *stackplan.VersionError
	switch {
	case err == nil:
		return plan, made, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, made, fail("Plan file not found", "There is no file %s. Make a plan with: cairn plan -out=%[1]s", path)
	case errors.Is(err, stackplan.ErrNotPlan):
		return nil, made, fail("Not a plan file", "%s. Give a file that \"cairn plan -out=FILE\" has written.", upperFirst(err.Error()))
	case errors.Is(err, stackplan.ErrDamaged):
		return nil, made, fail("Plan file is damaged", "%s. Nothing was done. Make a new plan.", upperFirst(withoutRepeats(err.Error(), stackplan.ErrDamaged.Error()+": ")))
	case errors.As(err, &version):
		return nil, made, fail("Plan file from another version", "%s. Nothing was done. Use the version that made it, or make a new plan.", upperFirst(err.Error()))
	default:
		return nil, made, fail("Plan file cannot be read", "The plan file cannot be read: %s.", reason(err))
	}
}

// checkPlan refuses a plan that was not made for what there is now.
func checkPlan(plan *stackplan.Plan, made stackplan.FileContext, info engine.Info, config *stackconfig.Config, stored *storedState) error {
	const again = "Nothing was done. Make a new plan."
	if stack := stackIdentity(config.Root.Dir); made.Stack != "" && stack != "" && made.Stack != stack {
		return fail("Plan of another stack", "This plan is for the stack %s, and this is the stack %s. Nothing was done. "+
			"Go to the directory of the stack that the plan is for, or make a plan for this one.", made.Stack, stack)
	}
	if made.Deployment != stored.deployment {
		return fail("Plan of another deployment", "This plan is for the deployment %q, not for %q. Nothing was done. Name the one that it is for with -deployment or "+deploymentVariable+".", made.Deployment, stored.deployment)
	}
	if !plan.Applyable {
		return fail("Plan cannot be applied", "Errors occurred while this plan was made. "+again)
	}
	if plan.Engine != info {
		return fail("Plan of another engine", "This plan was made with %s %s, and the engine is now %s %s. "+
			"Nothing was done. Use the engine that made the plan, or make a new plan.",
			plan.Engine.Name, plan.Engine.Version, info.Name, info.Version)
	}
	files, err := configFiles(config, info)
	if err != nil {
		return fail("Plan cannot be applied", "%s.", upperFirst(reason(err)))
	}
	if files.Hash() != made.ConfigHash {
		return fail("Configuration has changed", "The files of the stack or of its modules are not those that this plan was made from%s. "+again,
			describeChanges(files, made.ConfigFiles))
	}
	if made.StateLineage == "" && stored.Lineage != "" {
		return fail("Plan is stale", "There was no state when this plan was made, and now there is one at serial %d: "+
			"this plan was applied already, or something else was. "+again, stored.Serial)
	}
	if made.StateLineage != stored.Lineage {
		return fail("Plan for another state", "This plan was made with another state: with %s, and this is %s. "+
			"Nothing was done. Use the state that the plan was made with, or make a new plan.",
			describeLineage(made.StateLineage), describeLineage(stored.Lineage))
	}
	if made.StateSerial != uint64(stored.Serial) {
		return fail("Plan is stale", "The state has changed since this plan was made: it is at serial %d, and the plan was made at serial %d. "+again,
			stored.Serial, made.StateSerial)
	}
	return nil
}

// describeChanges names the files that differ from those of a plan. Plans of former versions do not have them.
func describeChanges(files, before stackplan.ConfigFiles) string {
	if len(before) == 0 {
		return ""
	}
	const most = 5
	changes := files.Since(before)
	var texts []string
	for _, c := range changes[:min(len(changes), most)] {
		name := textstyle.Name(c.Name)
		switch {
		case c.Added:
			name += " is new"
		case c.Removed:
			name += " is gone"
		default:
			name += " was edited"
		}
		texts = append(texts, name)
	}
	if more := len(changes) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return ": " + strings.Join(texts, ", ")
}

// withoutRepeats drops all occurrences of a phrase but the first, which errors that wrap the same cause twice have.
func withoutRepeats(text, phrase string) string {
	before, after, found := strings.Cut(text, phrase)
	if !found {
		return text
	}
	return before + phrase + strings.ReplaceAll(after, phrase, "")
}

func describeLineage(lineage string) string {
	if lineage == "" {
		return "an empty one"
	}
	return "lineage " + lineage
}

// stackIdentity names a stack by its place in the repository, which is the same in every checkout. It is empty
// outside of repositories, where nothing can be said.
func stackIdentity(dir string) string {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for root := absolute; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			rel, err := filepath.Rel(root, absolute)
			if err != nil {
				return ""
			}
			return filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return ""
		}
	}
}

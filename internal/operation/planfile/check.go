// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Check returns why a plan does not fit the target any more, or never did; nil if it fits.
func (t Target) Check(plan *stackplan.Plan, made stackplan.FileContext) error {
	if err := t.CheckConfig(plan, made); err != nil {
		return err
	}
	return t.checkState(plan, made)
}

// CheckConfig is [Target.Check] for a caller that keeps the state itself, and has it with the plan.
func (t Target) CheckConfig(plan *stackplan.Plan, made stackplan.FileContext) error {
	if err := t.checkOrigin(plan, made); err != nil {
		return err
	}
	return t.checkConfig(plan, made)
}

// CheckFiles returns why the files of the configuration are not those that a plan was made from;
// nil if they are. It is for callers that read more of these files than the plan says, and needs
// the configuration of the target only.
func (t Target) CheckFiles(plan *stackplan.Plan, made stackplan.FileContext) error {
	if err := t.checkStack(made); err != nil {
		return err
	}
	files, err := configFiles(t, plan.Engine)
	if err != nil {
		return failure.Error("Sources of the plan not found", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	if files.Hash() != made.ConfigHash {
		return failure.Error("Configuration changed since planning", "The files of the stack or of its modules are not those that this plan "+
			"was made from%s, and a plan file has none of their texts. Use a checkout of the commit that it was made from, or make a new plan.",
			describeChanges(files, made.ConfigFiles))
	}
	return nil
}

// checkStack compares the stack of the plan.
func (t Target) checkStack(made stackplan.FileContext) error {
	if stack := stackIdentity(t.Config.Root.Dir); made.Stack != "" && stack != "" && made.Stack != stack {
		return failure.Error("Plan of another stack", "This plan is for the stack %s, and this is the stack %s. Nothing was done. "+
			"Go to the directory of the stack that the plan is for, or make a plan for this one.", made.Stack, stack)
	}
	return nil
}

// checkOrigin compares the stack, the deployment and the engine of the plan.
func (t Target) checkOrigin(plan *stackplan.Plan, made stackplan.FileContext) error {
	if err := t.checkStack(made); err != nil {
		return err
	}
	if made.Deployment != t.Deployment && made.Prior == nil { // of which the client has said nothing
		return withCode(CodeOtherDeployment, "Plan of another deployment", "This plan is for the deployment %q, not for %q. Nothing was done. "+
			"Name the one that it is for.", made.Deployment, t.Deployment)
	}
	if !plan.Applyable {
		return failure.Error("Plan cannot be applied", "Errors occurred while this plan was made. Nothing was done. Make a new plan.")
	}
	if !t.CanApply(plan.Engine) {
		return failure.Error("Plan of another engine", "This plan was made with %s %s, and the engine is now %s %s. "+
			"Nothing was done. Use the engine that made the plan, or make a new plan.",
			plan.Engine.Name, plan.Engine.Version, t.Engine.Name, t.Engine.Version)
	}
	for _, component := range plan.Components {
		if made := component.Engine; len(component.EnginePlan) > 0 && !t.CanApply(made) {
			return failure.Error("Plan of another engine", "%s was planned with %s %s, which is not in use now. "+
				"Nothing was done. Use the engine that made the plan, or make a new plan.", component.Addr, made.Name, made.Version)
		}
	}
	return nil
}

// checkConfig compares the files of the configuration.
func (t Target) checkConfig(plan *stackplan.Plan, made stackplan.FileContext) error {
	files, err := configFiles(t, plan.Engine)
	if err != nil {
		return failure.Error("Plan cannot be applied", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	if files.Hash() != made.ConfigHash {
		return failure.Error("Configuration changed since planning", "The files of the stack or of its modules are not those that this plan "+
			"was made from%s. Nothing was done. Apply the plan in a checkout of the commit that it was made from, or make a new plan.",
			describeChanges(files, made.ConfigFiles))
	}
	return nil
}

// checkState compares the version of the state. A state that only the plan itself has changed fits,
// and so does one that has changed in other parts than the plan was made from.
func (t Target) checkState(plan *stackplan.Plan, made stackplan.FileContext) error {
	if made.Identity != "" && slices.Contains(t.Begun, made.Identity) {
		return nil
	}
	if made.Prior != nil {
		return t.checkPrior(made.Prior)
	}
	planned := StateVersion{File: made.StateFile, Lineage: made.StateLineage, Serial: made.StateSerial}
	if planned.Lineage != "" && planned.Lineage == t.Lineage && planned.Serial != uint64(t.Serial) {
		return t.checkReads(plan, made)
	}
	if diag := planned.Check(StateVersion{File: t.StateFile, Lineage: t.Lineage, Serial: uint64(t.Serial)}); diag != nil {
		return hcl.Diagnostics{diag}
	}
	return nil
}

func stale(detail string, args ...any) error { return hcl.Diagnostics{Stale(detail, args...)} }

// Stale says that the target of a plan has changed since it was made.
func Stale(detail string, args ...any) *hcl.Diagnostic {
	diag := failure.New("Stale plan", detail, args...)
	diag.Extra = fault.StalePlan
	return diag
}

// checkPrior compares the state with the one that a plan has with it.
func (t Target) checkPrior(prior *stackstate.State) error {
	changes, err := stackstate.Diff(prior, t.State)
	if err != nil {
		return failure.Error("Plan cannot be applied", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	if len(changes) > 0 {
		return stale("The state is not the one that this plan was made with, which a client of the RPC API had: %d of its records differ. "+
			"Nothing was done. Make a new plan.", len(changes))
	}
	return nil
}

// describeChanges names the files that differ from those of a plan. Plans of former versions do not
// have them.
func describeChanges(files, before stackplan.ConfigFiles) string {
	if len(before) == 0 {
		return ""
	}
	const most = 5
	changes := files.Since(before)
	var texts []string
	for _, c := range changes[:min(len(changes), most)] {
		name := safetext.Name(c.Name)
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

// stackIdentity names a stack by its place in the repository, which is the same in every checkout.
// It is empty outside of repositories, where nothing can be said.
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

// configFiles identifies the files of the configuration and of its modules, as an engine reads
// them.
func configFiles(target Target, info engine.Info) (stackplan.ConfigFiles, error) {
	config := target.Config
	opts := module.OptionsOf(info, config.Root.Dir, config.Resolver).Of(config)
	opts.Files = target.Modules
	loader := module.NewLoader(opts)
	var dirs []string
	for _, dir := range config.ModuleDirs() {
		tree, _ := loader.Load(dir) //nolint:errcheck // its mistakes were reported when it was planned
		if tree == nil {
			continue
		}
		for _, directory := range tree.Directories() {
			dirs = append(dirs, directory.Dir)
		}
	}
	return stackplan.HashConfig(stackplan.ConfigSources{
		Base:       config.Root.Dir,
		Files:      slices.Sorted(maps.Values(config.Paths)),
		ModuleDirs: dirs,
	})
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planfile saves plans for later, and says whether a saved plan still fits its target.
//
// A plan fits only the stack, the deployment, the engine, the configuration and the state that it
// was made for, or a state that nothing else has changed since than applies of this very plan, none
// of which came to its end. A plan that does not fit is an error, and nothing may have been done by
// then.
package planfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/clientfile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The codes of failures for which a caller may know a remedy of its own.
const (
	CodeNotFound        fault.Code = "planfile/not-found"
	CodeNotPlan         fault.Code = "planfile/not-plan"
	CodeOtherDeployment fault.Code = "planfile/other-deployment"
	CodeOtherState      fault.Code = "planfile/other-state"
)

// Target is the target that a plan is made for and applied to.
type Target struct {
	Config     *stackconfig.Config
	Engine     engine.Info
	CanApply   func(made engine.Info) bool // see [engine.Session]
	Modules    *module.Files               // that were parsed already; nil for none
	Deployment string
	Lineage    string // of the state; empty if there is none
	Serial     int64
	StateFile  string            // as [StatePlace] returns it; "" if it is in none, or if that is not known
	State      *stackstate.State // nil where the caller does not keep it in a store

	// Past returns the state as it was at the end of a serial. Nil where that is not known.
	Past func(serial int64) (*stackstate.State, error)

	// Begun are the identities of the plans that were applied in part, where all that has changed
	// since in what they were made from is their own work.
	Begun []string
}

// Context is the context in which a plan for a target is made.
//
// Errors: the files of the configuration cannot be read.
func (t Target) Context(made engine.Info, cairnVersion string) (stackplan.FileContext, error) {
	files, err := configFiles(t, made)
	return stackplan.FileContext{
		CairnVersion: cairnVersion,
		ConfigHash:   files.Hash(),
		ConfigFiles:  files,
		StateLineage: t.Lineage,
		StateSerial:  uint64(t.Serial),
		StateFile:    t.StateFile,
		Deployment:   t.Deployment,
		Stack:        stackIdentity(t.Config.Root.Dir),
	}, err
}

// File is a plan file that is to be written.
type File struct {
	Path         string
	CairnVersion string
	Keys         *encryption.Keyring // by which it is encrypted if that is demanded
}

// Write saves a plan that was made for a target, and returns its identity. No other user can read
// the file.
func Write(ctx context.Context, f File, plan *stackplan.Plan, target Target) (identity string, err error) {
	made, err := target.Context(plan.Engine, f.CairnVersion)
	if err != nil {
		return "", failure.Error("Plan not saved", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	if f.Keys.Demands() {
		identity, err = f.writeSealed(ctx, plan, made)
	} else {
		identity, err = stackplan.WriteFile(f.Path, plan, made)
	}
	if encryption.CodeOf(err) != "" {
		return "", err
	}
	if err != nil {
		return "", failure.Error("Plan not saved", "The plan file cannot be written: %s.", failure.Reason(err))
	}
	return identity, nil
}

func (f File) writeSealed(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext) (identity string, err error) {
	var content bytes.Buffer
	if identity, err = stackplan.Write(&content, plan, made); err != nil {
		return "", err
	}
	file, err := f.Keys.SealFile(ctx, encryption.PlanFile, content.Bytes())
	if err != nil {
		return "", err
	}
	return identity, durable.Replace(f.Path, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// CheckPath refuses to put a plan where it cannot be written, or in the place of something that is
// not a plan. An empty file, or one that is not regular, is fine.
func CheckPath(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		if readOnly := checkDir(path); readOnly != nil {
			return readOnly
		}
	}
	switch {
	case err != nil:
		return nil //nolint:nilerr // there is none, or writing it will report the mistake
	case info.IsDir():
		return failure.Error("Unusable plan file path", "%s is a directory. Give the name of a file, for example %s.", path,
			filepath.Join(path, "stack.plan"))
	case !info.Mode().IsRegular() || info.Size() == 0:
		return nil
	}
	if isSealed(path) {
		return nil
	}
	if _, _, err := stackplan.ReadFile(path); errors.Is(err, stackplan.ErrNotPlan) {
		return failure.Error("Unusable plan file path", "There is a file %s already, which is not a plan file and would be overwritten. "+
			"Give another name, for example stack.plan, or delete that file first.", path)
	}
	return nil
}

// checkDir reports that no plan file can be made in its directory, which is where it gets its
// content before it gets its name.
func checkDir(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil || access.Writable(dir) {
		return nil //nolint:nilerr // writing it will report the error
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return failure.Error("Unusable plan file path", "There is no directory %s. Make it, or name a file in another directory.", dir)
	}
	return failure.Error("Unusable plan file path", "No file can be made in the directory %s, which is read-only for this user. Name a file "+
		"in another directory.", dir)
}

// Read reads a saved plan, also one that a client of the RPC API has kept, and the context that it
// was made for. One in clear is refused where keys demand encryption.
func Read(ctx context.Context, path string, keys *encryption.Keyring) (*stackplan.Plan, stackplan.FileContext, error) {
	if isSealed(path) {
		return readSealed(ctx, path, keys)
	}
	plan, made, err := readClear(path)
	if err == nil && keys.Demands() {
		return nil, made, encryption.Clear("the plan file " + path)
	}
	return plan, made, err
}

// isSealed reports whether a file is encrypted. One that cannot be read is not: reading it as a
// plan gives the reason.
func isSealed(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	start := make([]byte, encryption.FileStart)
	n, err := io.ReadFull(file, start)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && encryption.IsSealedFile(start[:n])
}

func readSealed(ctx context.Context, path string, keys *encryption.Keyring) (*stackplan.Plan, stackplan.FileContext, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, stackplan.FileContext{}, readError(path, err)
	}
	content, err := keys.OpenFile(ctx, encryption.PlanFile, "the plan file "+path, file)
	if err != nil {
		return nil, stackplan.FileContext{}, err
	}
	plan, made, err := stackplan.ReadFrom(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, made, readError(path, fmt.Errorf("%s: %w", path, err))
	}
	return plan, made, nil
}

func readClear(path string) (*stackplan.Plan, stackplan.FileContext, error) {
	plan, made, err := stackplan.ReadFile(path)
	if errors.Is(err, stackplan.ErrNotPlan) {
		if kept, madeFor, clientErr := clientfile.ReadPlan(path); !errors.Is(clientErr, clientfile.ErrOther) {
			plan, made, err = kept, madeFor, clientErr
		}
	}
	if err != nil {
		return nil, made, readError(path, err)
	}
	return plan, made, nil
}

// IsOther reports whether an error of [Read] says that the file is not the plan of a stack, so that
// it may be that of something else. A damaged plan of a stack is one.
func IsOther(err error) bool {
	return slices.ContainsFunc(failure.Diagnostics(err), func(diag *hcl.Diagnostic) bool {
		code := engine.FaultOf(diag)
		return code == CodeNotPlan
	})
}

func readError(path string, err error) error {
	var version *stackplan.VersionError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return withCode(CodeNotFound, "Plan file not found", "There is no file %s.", path)
	case errors.Is(err, stackplan.ErrNotPlan):
		return withCode(CodeNotPlan, "Not a plan file", "%s.", failure.Capitalize(err.Error()))
	case errors.Is(err, stackplan.ErrDamaged):
		return failure.Error("Damaged plan file", "%s. Nothing was done. Make a new plan.",
			failure.Capitalize(withoutRepeats(err.Error(), stackplan.ErrDamaged.Error()+": ")))
	case errors.As(err, &version):
		return failure.Error("Plan file from another version", "%s. Nothing was done. Use the version that made it, or make a new plan.",
			failure.Capitalize(err.Error()))
	default:
		return failure.Error("Unreadable plan file", "The plan file cannot be read: %s.", failure.Reason(err))
	}
}

func withCode(code fault.Code, summary, detail string, args ...any) error {
	return hcl.Diagnostics{failure.With(code, failure.New(summary, detail, args...))}
}

// withoutRepeats drops all occurrences of a phrase but the first, which errors that wrap the same
// cause twice have.
func withoutRepeats(text, phrase string) string {
	before, after, found := strings.Cut(text, phrase)
	if !found {
		return text
	}
	return before + phrase + strings.ReplaceAll(after, phrase, "")
}

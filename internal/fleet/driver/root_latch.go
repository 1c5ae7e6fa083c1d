// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

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
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A root module some of whose inputs are not known yet is planned in a working copy of its
// directory (package workcopy), in which these inputs come through a latch. The copy has no backend
// of its own: the engine is told where the state of the module is, and reads, locks and writes it
// there itself.

// WaitError says why a root module cannot be planned before its inputs are known.
type WaitError struct{ Reason string }

func (e *WaitError) Error() string { return e.Reason }

func waitFor(format string, args ...any) error { return &WaitError{fmt.Sprintf(format, args...)} }

// latch is a root module with inputs that were not known when it was planned.
type latch struct {
	planned map[string]cty.Value // the inputs, of the types of their variables, without marks
	dir     string               // of the working copy, "" unless the engine is to run
	copy    *workcopy.Copy

	// Of a plan that was made before: where its inputs were unknown, and their present values. Nulls
	// for one that destroys.
	shape *workcopy.Shape
	final map[string]cty.Value
}

// Contents of the directory of a working copy, which is made and removed with it.
const (
	latchTree = "tree"
	latchData = "data"
)

// enginePlan is the file that the engine writes and reads.
func (r *Root) enginePlan() string {
	if r.latch != nil || r.notToKeep {
		return filepath.Join(r.opts.RunDir, "engine.tfplan")
	}
	return r.opts.PlanFile
}

// takeLatch makes a latch for the inputs that are not known, if there are any.
//
// Errors: a [*WaitError].
func (w *rootWork) takeLatch() error {
	unknown := map[string]cty.Value{}
	for _, input := range w.inputs {
		if !input.Value.IsWhollyKnown() {
			unknown[input.Name], _ = input.Value.UnmarkDeep()
		}
	}
	w.latch = nil
	if len(unknown) == 0 {
		return nil
	}
	tree, err := w.latchable()
	if err != nil {
		return err
	}
	for name, value := range unknown {
		switch variable := tree.Module.Variables[name]; {
		case variable == nil:
		case variable.Ephemeral: // no plan keeps any part of it
			unknown[name] = cty.UnknownVal(variable.Type)
		default:
			unknown[name] = asVariable(variable, value)
		}
	}
	w.latch = &latch{planned: unknown, final: map[string]cty.Value{}}
	for name, value := range unknown { // which only an apply uses that nothing else has planned for: one that destroys
		if w.latch.final[name], err = withNulls(value); err != nil {
			return err
		}
	}
	return nil
}

// asVariable returns a value as the module sees it; as it is if it does not fit, which the engine
// says.
func asVariable(variable *engine.Variable, value cty.Value) cty.Value {
	if converted, err := convert.Convert(variable.ApplyDefaults(value), variable.Type); err == nil {
		return converted
	}
	return value
}

// latchable returns the modules of the root module if it can be planned in a working copy as it
// would be where it is.
//
// Errors: a [*WaitError].
func (w *rootWork) latchable() (*module.Tree, error) {
	tree, _ := module.NewLoader(module.OptionsOf(w.Info, w.opts.Dir, w.installedModules())).Load(w.opts.Dir) //nolint:errcheck // the engine reports mistakes
	switch {
	case tree == nil || tree.Module == nil || tree.Cycle || len(tree.Missing) > 0 || tree.Unsupported.HasErrors() || len(tree.Root.ConstVariables) > 0:
		return nil, waitFor("its modules cannot be followed")
	case len(tree.Faulty) > 0:
		return nil, waitFor("it calls a module that init has not installed")
	}
	if filepath.Separator != '/' { // see [workcopy.Spec.Abspath]
		for _, dir := range tree.Directories() {
			for _, file := range dir.Files {
				if bytes.Contains(file.Source, []byte("abspath")) {
					return nil, waitFor("it uses abspath in %s, with another result in a working copy", file.Display)
				}
			}
		}
	}
	for _, entry := range w.opts.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "TF_CLI_ARGS") && strings.Contains(value, "-state") {
			return nil, waitFor("%s says where its state is", name)
		}
	}
	if _, err := w.backend(); err != nil {
		return nil, err
	}
	return tree, nil
}

// buildCopy lays out the working copy.
func (w *rootWork) buildCopy() error {
	tree, err := w.latchable()
	if err != nil {
		return err
	}
	lock, err := os.ReadFile(filepath.Join(w.opts.Dir, workcopy.LockFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	plans := filepath.Dir(w.opts.PlanFile)
	layout, err := workcopy.NewLayout(tree, w.latch.planned, plans)
	if err != nil {
		return err
	}
	// A new one each time: after a kill, the engine may still be at work in the last one.
	if w.latch.dir, err = os.MkdirTemp(plans, filepath.Base(w.opts.PlanFile)+".copy-"); err != nil {
		return err
	}
	w.latch.copy, err = workcopy.Build(&workcopy.Spec{
		Dir: filepath.Join(w.latch.dir, latchTree), Tree: tree, Layout: layout, Lock: lock, Inputs: w.latch.planned, Shape: w.latch.shape, ByFile: true,
		Abspath: w.opts.Dir,
	})
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.latch.copy.Root, workcopy.StateFile)); err != nil {
		return err
	}
	return w.fillDataDir(workcopy.Manifest(tree))
}

// fillDataDir makes the files for the copy that init would make.
func (w *rootWork) fillDataDir(manifest []byte) error {
	data, modules := w.copyDataDir(), filepath.Join(w.copyDataDir(), "modules")
	if err := os.MkdirAll(modules, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(modules, "modules.json"), manifest, 0o600); err != nil {
		return err
	}
	providers := filepath.Join(w.dir().DataDir(), "providers")
	if _, err := os.Stat(providers); err == nil {
		if err := os.Symlink(providers, filepath.Join(data, "providers")); err != nil {
			return err
		}
	}
	selected, err := os.ReadFile(filepath.Join(w.dir().DataDir(), "environment"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "environment"), selected, 0o600)
	}
	return err
}

func (r *Root) copyDataDir() string { return filepath.Join(r.latch.dir, latchData) }

// removeCopy removes the working copy, in which nothing is left that somebody needs.
func (r *Root) removeCopy() {
	_ = os.RemoveAll(r.latch.dir) //nolint:errcheck // the rest is removed with the plan
	r.latch.dir, r.latch.copy = "", nil
}

// inCopy returns the arguments and the environment of a command that runs in the working copy, for
// path.cwd in the directory of the module.
func (w *rootWork) inCopy(args []string) (inCopy, env []string) {
	return append([]string{"-chdir=" + w.latch.copy.Root}, args...), append(slices.Clone(w.opts.Environ), initdir.DataDirVariable+"="+w.copyDataDir())
}

// autoVarFiles are the files with values of variables that the engine would find in the directory
// of the module, in its order.
func (w *rootWork) autoVarFiles() ([]string, error) {
	entries, err := os.ReadDir(w.opts.Dir)
	if err != nil {
		return nil, err
	}
	var always, auto []string
	for _, entry := range entries { // sorted by name
		switch name := entry.Name(); {
		case name == "terraform.tfvars" || name == "terraform.tfvars.json":
			always = append(always, "-var-file="+filepath.Join(w.opts.Dir, name))
		case strings.HasSuffix(name, ".auto.tfvars") || strings.HasSuffix(name, ".auto.tfvars.json"):
			auto = append(auto, "-var-file="+filepath.Join(w.opts.Dir, name))
		}
	}
	return append(always, auto...), nil
}

// planInCopy makes a working copy of the module for a plan, and returns the arguments that name
// files with values.
func (w *rootWork) planInCopy(ctx context.Context) ([]string, error) {
	auto, err := w.autoVarFiles()
	if err != nil {
		return nil, err
	}
	if err := w.buildCopy(); err != nil {
		return nil, err
	}
	if err := w.initCopy(ctx); err != nil {
		return nil, err
	}
	return w.latch.withEphemeral(append(auto, w.varFiles()...)), nil
}

// withEphemeral adds the file with values of ephemeral inputs, if there are any, to arguments that
// name such files.
func (l *latch) withEphemeral(files []string) []string {
	if !l.hasEphemeral() {
		return files
	}
	return append(files, "-var-file="+workcopy.VariablesFile)
}

// hasEphemeral reports whether there are inputs that a process has to be given anew, and that are
// in no plan.
func (l *latch) hasEphemeral() bool { return len(l.copy.Shape.EphemeralWrapped) > 0 }

// endCopy takes over the files that the engine has written into the copy.
func (w *rootWork) endCopy() {
	if w.latch == nil || w.latch.dir == "" {
		return
	}
	if w.latch.copy == nil {
		w.removeCopy()
		return
	}
	if err := os.Remove(filepath.Join(w.latch.copy.Root, backendFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.diags = append(w.diags, failure.Warning("Files of the module not returned", "%s.", failure.Capitalize(failure.Reason(err))))
	}
	if err := w.latch.copy.Return(); err != nil {
		w.diags = append(w.diags, failure.Warning("Files of the module not returned", "Not all files that were written next to the root "+
			"module are there: %s.", err))
	}
	if err := w.returnErroredState(); err != nil {
		w.diags = append(w.diags, failure.New("State not returned",
			"The engine could not save the state, and has written it to %s. It cannot be moved to the root module: %s. Push it from there with the command state push.", w.erroredState(), failure.Reason(err)))
		return // without the copy, the state would be lost
	}
	w.removeCopy()
}

// erroredName is the file in which an engine leaves a state that its backend has not taken.
const erroredName = "errored.tfstate"

func (w *rootWork) erroredState() string { return filepath.Join(w.latch.copy.Root, erroredName) }

// returnErroredState moves a state that the backend has not taken to where the messages of the
// engine say that it is.
func (w *rootWork) returnErroredState() error {
	text, err := os.ReadFile(w.erroredState())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if state, err := tfstate.Parse(text); err == nil {
		if clean, err := workcopy.CleanState(state); err == nil {
			text = clean.WithIdentity(state.Lineage(), state.Serial()).Bytes()
		}
	}
	file, err := os.OpenFile(filepath.Join(w.opts.Dir, erroredName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // never in place of another one
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// explainUnknown says of a plan that has failed only because a number of instances is not known
// that it has to wait.
func (w *rootWork) explainUnknown(err error) error {
	if w.latch == nil || !binary.OnlyUnknownInstances(w.diags) {
		return err
	}
	at := ""
	for _, diag := range w.diags {
		if diag.Severity == hcl.DiagError && diag.Subject != nil && at == "" {
			at = fmt.Sprintf(" at %s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
		}
	}
	w.diags = slices.DeleteFunc(w.diags, func(diag *hcl.Diagnostic) bool { return diag.Severity == hcl.DiagError })
	return waitFor("a number of instances, or an id to import,%s depends on it", at)
}

// cleanState removes from the state the remains of checks of generated objects. The engine is asked
// to do it, which locks the state. A backup that it has made of the state before the apply stays.
func (w *rootWork) cleanState() error {
	run := func(stdout io.Writer, args ...string) error {
		return w.Processes.Run(process.Command{Program: w.Engine, Args: args, Dir: w.opts.Dir, Env: w.opts.Environ, Stdout: stdout, Stderr: io.Discard})
	}
	var stdout bytes.Buffer
	if err := run(&stdout, "state", "pull"); err != nil {
		return err
	}
	state, err := tfstate.Parse(stdout.Bytes())
	if err != nil {
		return err
	}
	clean, err := workcopy.CleanState(state)
	if err != nil || clean == state {
		return err
	}
	file := filepath.Join(w.opts.RunDir, "clean.tfstate")
	if err := os.WriteFile(file, clean.WithIdentity(state.Lineage(), state.Serial()+1).Bytes(), 0o600); err != nil {
		return err
	}
	defer os.Remove(file) //nolint:errcheck // with the directory
	backup, err := w.backupFile()
	if err != nil {
		return err
	}
	if backup == "" {
		return run(io.Discard, "state", "push", file)
	}
	before, beforeErr := os.ReadFile(backup)
	if err := run(io.Discard, "state", "push", file); err != nil {
		return err
	}
	switch {
	case errors.Is(beforeErr, fs.ErrNotExist):
		if err := os.Remove(backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case beforeErr != nil:
		return beforeErr
	}
	return os.WriteFile(backup, before, 0o600) // which has the mode that it had
}

// ofCopy returns the engine's diagnostics about the copy as if it were the module.
func (l *latch) ofCopy(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
		if diag.Severity != hcl.DiagWarning || diag.Summary != "Value for undeclared variable" {
			return false
		}
		for name := range l.planned { // in a file that has values of others, too
			if strings.Contains(diag.Detail, `"`+name+`"`) {
				return true
			}
		}
		return false
	})
}

// openSaved finds the plan of the engine in the file of a plan that was saved, and makes the
// working copy in which it was made, if it was made in one.
func (w *rootWork) openSaved() error {
	w.latch = nil
	text, err := os.ReadFile(w.opts.PlanFile)
	if err != nil {
		return err
	}
	saved, ok := ReadLatchedPlan(text)
	if !ok {
		return nil
	}
	switch {
	case saved.Version != latchedVersion:
		return failure.Error("Plan of another version", "The plan of the root module was saved by another version of cairn. Nothing was done. Plan again.")
	case saved.Dir != "" && saved.Dir != w.opts.Dir:
		return failure.Error("Plan of another directory", "The plan was made in %s, with inputs that were not known, and the engine would write the state there. Nothing was done. Apply it there, or plan again.", saved.Dir)
	}
	planned, err := saved.inputs()
	if err != nil {
		return failure.Error("Damaged plan", "The inputs in the plan of the root module cannot be read. Nothing was done. Plan again.")
	}
	tree, err := w.latchable()
	if err != nil {
		return err
	}
	final := map[string]cty.Value{}
	var diags hcl.Diagnostics
	for _, input := range w.inputs {
		was, latched := planned[input.Name]
		variable := tree.Module.Variables[input.Name]
		if !latched || variable == nil {
			continue
		}
		value, _ := input.Value.UnmarkDeep()
		value = asVariable(variable, value)
		if err := engine.CheckRefines(was, value); err != nil {
			diags = diags.Append(problem.New(problem.BadValue, input.Range.Ptr(), "Input changed since planning",
				"The value of %q cannot be used with the plan: %s. Plan again.", input.Name, err))
		}
		final[input.Name] = value
	}
	w.diags = append(w.diags, diags...)
	if diags.HasErrors() {
		return &process.ExitError{Code: 1}
	}
	w.latch = &latch{planned: planned, final: final, shape: saved.Shape}
	if err := os.MkdirAll(w.opts.RunDir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(w.enginePlan(), saved.File, 0o600)
}

// applyInCopy prepares a working copy for applying a plan of it, and returns the arguments that
// name files with values: those of ephemeral variables, which no plan holds.
func (w *rootWork) applyInCopy() ([]string, error) {
	if err := w.buildCopy(); err != nil {
		return nil, err
	}
	if err := w.latch.copy.WriteFinal(w.latch.final, nil, false); err != nil {
		return nil, err
	}
	auto, err := w.autoVarFiles()
	if err != nil {
		return nil, err
	}
	return w.latch.withEphemeral(append(auto, w.varFiles()...)), nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

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
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
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

// takeLatch makes a latch for the inputs that are not known, if there are any.
//
// Errors: a [*WaitError].
func (w *Work) takeLatch() error {
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
		w.latch.final[name] = cty.UnknownAsNull(value)
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

// load reads the modules of the root module as the engine would, without the mistakes in them,
// which the engine reports; nil if there is none. The resolver finds modules that are not in local
// directories; nil finds none.
func load(info engine.Info, dir string, resolver stackconfig.Resolver) *module.Tree {
	tree, _ := module.NewLoader(module.OptionsOf(info, dir, resolver)).Load(dir) //nolint:errcheck // see above
	return tree
}

// latchable returns the modules of the root module if it can be planned in a working copy as it
// would be where it is.
//
// Errors: a [*WaitError].
func (w *Work) latchable() (*module.Tree, error) {
	tree := load(w.engine.Info, w.opts.Dir, w.installedModules())
	switch {
	case tree == nil || tree.Module == nil || tree.Cycle || len(tree.Missing) > 0 || tree.Unsupported.HasErrors() ||
		tree.Root.HasConstants():
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
func (w *Work) buildCopy() error {
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
		Dir: filepath.Join(w.latch.dir, latchTree), Tree: tree, Layout: layout, Lock: lock,
		Inputs: w.latch.planned, Shape: w.latch.shape, ByFile: true, Abspath: w.opts.Dir,
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
func (w *Work) fillDataDir(manifest []byte) error {
	data := w.copyDataDir()
	if err := os.MkdirAll(filepath.Dir(initdir.ManifestIn(data)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(initdir.ManifestIn(data), manifest, 0o600); err != nil {
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

func (s *Session) copyDataDir() string { return filepath.Join(s.latch.dir, latchData) }

// removeCopy removes the working copy, in which nothing is left that somebody needs.
func (s *Session) removeCopy() {
	_ = os.RemoveAll(s.latch.dir) //nolint:errcheck // the rest is removed with the plan
	s.latch.dir, s.latch.copy = "", nil
}

// inCopy returns the arguments and the environment of a command that runs in the working copy, for
// path.cwd in the directory of the module.
func (w *Work) inCopy(args []string) (inCopy, env []string) {
	env = append(slices.Clone(w.opts.Environ), initdir.DataDirVariable+"="+w.copyDataDir())
	return append([]string{"-chdir=" + w.latch.copy.Root}, args...), env
}

// autoFiles are the files with values of variables that the engine would find in the directory of
// the module, in its order.
func (s *Session) autoFiles() ([]string, error) {
	entries, err := os.ReadDir(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	var always, auto []string
	for _, entry := range entries { // sorted by name
		switch name := entry.Name(); {
		case !module.HasValues(name):
		case strings.TrimSuffix(name, ".json") == "terraform.tfvars":
			always = append(always, filepath.Join(s.opts.Dir, name))
		default:
			auto = append(auto, filepath.Join(s.opts.Dir, name))
		}
	}
	return append(always, auto...), nil
}

// copyVarFiles returns the arguments that name files with values for a command in the working copy,
// which is in another directory.
func (w *Work) copyVarFiles() ([]string, error) {
	auto, err := w.autoFiles()
	if err != nil {
		return nil, err
	}
	var options []string
	for _, name := range auto {
		options = append(options, "-var-file="+name)
	}
	options = append(options, w.varFiles()...)
	if w.latch.hasEphemeral() {
		options = append(options, "-var-file="+workcopy.VariablesFile)
	}
	return options, nil
}

// planInCopy makes a working copy of the module for a plan, and returns the arguments that name
// files with values.
func (w *Work) planInCopy(ctx context.Context) ([]string, error) {
	if err := w.buildCopy(); err != nil {
		return nil, err
	}
	if err := w.initCopy(ctx); err != nil {
		return nil, err
	}
	return w.copyVarFiles()
}

// hasEphemeral reports whether there are inputs that a process has to be given anew, and that are
// in no plan.
func (l *latch) hasEphemeral() bool { return len(l.copy.Shape.EphemeralWrapped) > 0 }

// endCopy takes over the files that the engine has written into the copy.
func (w *Work) endCopy() {
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
		w.diags = append(w.diags, failure.Warning("Files of the module not returned",
			"Not all files that were written next to the root module are there: %s.", err))
	}
	if err := w.returnErroredState(); err != nil {
		w.diags = append(w.diags, failure.New("State not returned",
			"The engine could not save the state, and has written it to %s. It cannot be moved to the root module: %s. "+
				"Push it from there with the command state push.", w.erroredState(), failure.Reason(err)))
		return // without the copy, the state would be lost
	}
	w.removeCopy()
}

// erroredName is the file in which an engine leaves a state that its backend has not taken.
const erroredName = "errored.tfstate"

func (w *Work) erroredState() string { return filepath.Join(w.latch.copy.Root, erroredName) }

// returnErroredState moves a state that the backend has not taken to where the messages of the
// engine say that it is.
func (w *Work) returnErroredState() error {
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
func (w *Work) explainUnknown(err error) error {
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

// cleanState removes from the state the remains of checks of generated objects. It does so also
// where the apply was stopped.
func (w *Work) cleanState(ctx context.Context) {
	if err := w.pushClean(context.WithoutCancel(ctx)); err != nil {
		w.diags = append(w.diags, failure.Warning("State not cleaned",
			"The state has results of checks that belong to no object of the module: %s. The next apply removes them.", failure.Reason(err)))
	}
}

// pushClean asks the engine to clean the state, which locks it. A backup that it has made of the
// state before the apply stays.
func (w *Work) pushClean(ctx context.Context) error {
	text, err := w.ask(ctx, io.Discard, "state", "pull")
	if err != nil {
		return err
	}
	state, err := tfstate.Parse(text)
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
	before, beforeErr := os.ReadFile(backup)
	if _, err := w.ask(ctx, io.Discard, "state", "push", file); err != nil || backup == "" {
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

// OpenSaved opens the plan in the file of an earlier session, in place of making one. One that
// nobody else than its engine can read may have changes.
func (w *Work) OpenSaved(ctx context.Context) (*Plan, error) {
	w.notToKeep = false
	if err := w.prepare(ctx); err != nil {
		return nil, err
	}
	if err := w.openLatched(); err != nil {
		return nil, err
	}
	return w.readPlan(ctx)
}

// openLatched finds the plan of the engine in the file of a plan that was saved, and the latch with
// which it was made, if it was made in a working copy.
func (w *Work) openLatched() error {
	w.latch = nil
	text, err := os.ReadFile(w.opts.PlanFile)
	if err != nil {
		return err
	}
	saved, ok := readLatchedPlan(text)
	if !ok {
		return nil
	}
	switch {
	case saved.Version != latchedVersion:
		return failure.Error("Plan of another version",
			"The plan of the root module was saved by another version of cairn. Nothing was done. Plan again.")
	case saved.Dir != "" && saved.Dir != w.opts.Dir:
		return failure.Error("Plan of another directory",
			"The plan was made in %s, with inputs that were not known, and the engine would write the state there. "+
				"Nothing was done. Apply it there, or plan again.", saved.Dir)
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
func (w *Work) applyInCopy() ([]string, error) {
	if err := w.buildCopy(); err != nil {
		return nil, err
	}
	if err := w.latch.copy.WriteFinal(w.latch.final, nil, false); err != nil {
		return nil, err
	}
	return w.copyVarFiles()
}

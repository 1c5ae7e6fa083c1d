// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/cairnstacks/cairn/internal/engine/module"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A root module some of whose inputs are not known yet is planned in a working copy of its directory (package workcopy), in which these inputs come through a latch.
// The copy has no backend of its own: the engine is told where the state of the module is, and reads, locks and writes it there itself.

// WaitError says why a root module cannot be planned before its inputs are known.
type WaitError struct{ Reason string }

func (e *WaitError) Error() string { return e.Reason }

func waitFor(format string, args ...any) error { return &WaitError{fmt.Sprintf(format, args...)} }

// latch is a root module with inputs that were not known when it was planned.
type latch struct {
	planned map[string]cty.Value // the inputs, of the types of their variables, without marks
	dir     string               // of the working copy, "" unless the engine is to run
	copy    *workcopy.Copy

	// Of a plan that was made before: where its inputs were unknown, and what they are now. Nulls for one that destroys.
	shape *workcopy.Shape
	final map[string]cty.Value
}

// What is in the directory of a working copy, which is made and removed with it.
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
		if variable := tree.Module.Variables[name]; variable != nil {
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

// asVariable returns a value as the module sees it; as it is if it does not fit, which the engine says.
func asVariable(variable *engine.Variable, value cty.Value) cty.Value {
	if converted, err := convert.Convert(variable.ApplyDefaults(value), variable.Type); err == nil {
		return converted
	}
	return value
}

// latchable returns the modules of the root module if it can be planned in a working copy as it would be where it is.
//
// Errors: a [*WaitError].
func (w *rootWork) latchable() (*module.Tree, error) {
	tree, _ := module.NewLoader(module.OptionsOf(w.Info, w.opts.Dir, w.installedModules())).Load(w.opts.Dir) //nolint:errcheck // the engine says what is wrong with it
	switch {
	case tree == nil || tree.Module == nil || tree.Circular || len(tree.Missing) > 0 || tree.Unsupported.HasErrors() || len(tree.Root.ConstVariables) > 0:
		return nil, waitFor("its modules cannot be followed")
	case len(tree.Faulty) > 0:
		return nil, waitFor("it calls a module that init has not installed, or in several versions")
	}
	for _, dir := range tree.Directories() {
		for _, file := range dir.Files {
			if bytes.Contains(file.Source, []byte("abspath")) {
				return nil, waitFor("it uses abspath in %s, with another result in a working copy", file.Display)
			}
		}
	}
	for name, variable := range tree.Module.Variables {
		if variable.Ephemeral {
			return nil, waitFor("it has an ephemeral variable, %s", name)
		}
	}
	for _, entry := range w.opts.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "TF_CLI_ARGS") && strings.Contains(value, "-state") {
			return nil, waitFor("%s says where its state is", name)
		}
	}
	if _, err := w.localBackend(); err != nil {
		return nil, err
	}
	return tree, nil
}

// dataDir is where init has installed what the module needs.
func (w *rootWork) dataDir() string {
	dir := environ.Get(w.opts.Environ, "TF_DATA_DIR")
	if dir == "" {
		dir = ".terraform"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.opts.Dir, dir)
	}
	return dir
}

// localBackend returns where the state of the module is, as absolute paths, from what init has recorded.
//
// Errors: a [*WaitError] for states that are elsewhere.
func (w *rootWork) localBackend() (config map[string]string, err error) {
	var recorded struct {
		Backend *struct {
			Type   string         `json:"type"`
			Config map[string]any `json:"config"`
		} `json:"backend"`
	}
	text, err := os.ReadFile(filepath.Join(w.dataDir(), "terraform.tfstate"))
	switch {
	case errors.Is(err, fs.ErrNotExist): // the default backend
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(text, &recorded); err != nil {
			return nil, waitFor("what init has recorded of its backend is not understood")
		}
	}
	if recorded.Backend != nil && recorded.Backend.Type != "local" {
		return nil, waitFor("its state is in a backend %q, not in a local file", recorded.Backend.Type)
	}
	config = map[string]string{"path": "terraform.tfstate", "workspace_dir": "terraform.tfstate.d"}
	for name, path := range config {
		if recorded.Backend != nil {
			if given, ok := recorded.Backend.Config[name].(string); ok && given != "" {
				path = given
			}
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.opts.Dir, path)
		}
		config[name] = path
	}
	return config, nil
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
	})
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.latch.copy.Root, workcopy.StateFile)); err != nil {
		return err
	}
	return w.fillDataDir(workcopy.Manifest(tree))
}

// fillDataDir makes for the copy what init would.
func (w *rootWork) fillDataDir(manifest []byte) error {
	data, modules := w.copyDataDir(), filepath.Join(w.copyDataDir(), "modules")
	if err := os.MkdirAll(modules, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(modules, "modules.json"), manifest, 0o600); err != nil {
		return err
	}
	providers := filepath.Join(w.dataDir(), "providers")
	if _, err := os.Stat(providers); err == nil {
		if err := os.Symlink(providers, filepath.Join(data, "providers")); err != nil {
			return err
		}
	}
	selected, err := os.ReadFile(filepath.Join(w.dataDir(), "environment"))
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
	_ = os.RemoveAll(r.latch.dir) //nolint:errcheck // what is left is removed with the plan
	r.latch.dir, r.latch.copy = "", nil
}

// backendFile is read by init, and not part of any module.
const backendFile = "zz_stack_backend.tf.json"

// initCopy tells the engine where the state is. Nothing is installed.
func (w *rootWork) initCopy(ctx context.Context) error {
	if err := stopped(ctx); err != nil {
		return err
	}
	config, err := w.localBackend()
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"terraform": map[string]any{"backend": map[string]any{"local": config}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.latch.copy.Root, backendFile), text, 0o600); err != nil {
		return err
	}
	args, env := w.inCopy([]string{"init", "-input=false", "-reconfigure", "-get=false", "-lockfile=readonly", "-no-color"})
	var output bytes.Buffer
	err = w.Processes.Run(process.Command{Program: w.Engine, Args: args, Dir: w.opts.Dir, Env: env, Stdout: &output, Stderr: &output})
	if _, failed := errors.AsType[*process.ExitError](err); failed {
		_, stderr := w.view.Writers()
		writeLine(stderr, bytes.TrimRight(output.Bytes(), "\n"))
		w.unsaid = append(w.unsaid, failure.New("Working copy not initialized", "The command init has failed in a working copy of the root module, and says why in its output."))
	}
	return err
}

// inCopy returns the arguments and the environment of a command that runs in the working copy, for path.cwd in the directory of the module.
func (w *rootWork) inCopy(args []string) (inCopy, env []string) {
	return append([]string{"-chdir=" + w.latch.copy.Root}, args...), append(slices.Clone(w.opts.Environ), "TF_DATA_DIR="+w.copyDataDir())
}

// autoVarFiles are the files with values of variables that the engine would find in the directory of the module, in its order.
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

// planInCopy makes what is needed for a plan of the module in a working copy, and returns its arguments that name files with values.
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
	return append(auto, w.varFiles()...), nil
}

// endCopy takes over what the engine has written into the copy.
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
		w.diags = append(w.diags, failure.Warning("Files of the module not returned", "What was written next to the root module is not all there: %s.", err))
	}
	w.removeCopy()
}

// explainUnknown says of a plan that has failed only because a number of instances is not known that it has to wait.
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

// cleanState removes from the state what the checks of generated objects have left in it. The engine is asked to do it, which locks the state. A backup that it has made
// of the state before the apply stays.
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

// backupFile is where the engine keeps the state before the last change.
func (w *rootWork) backupFile() (string, error) {
	config, err := w.localBackend()
	if err != nil {
		return "", err
	}
	name := environ.Get(w.opts.Environ, "TF_WORKSPACE")
	if name == "" {
		selected, err := os.ReadFile(filepath.Join(w.dataDir(), "environment"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		name = strings.TrimSpace(string(selected))
	}
	if name == "" || name == "default" {
		return config["path"] + ".backup", nil
	}
	return filepath.Join(config["workspace_dir"], name, "terraform.tfstate.backup"), nil
}

// ofCopy returns what the engine has reported of the copy as if it were the module.
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

// openSaved finds the plan of the engine in the file of a plan that was saved, and makes the working copy in which it was made, if it was made in one.
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
	case saved.Dir != w.opts.Dir:
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

// applyInCopy makes what is needed to apply a plan of a working copy.
func (w *rootWork) applyInCopy() error {
	if err := w.buildCopy(); err != nil {
		return err
	}
	return w.latch.copy.WriteFinal(w.latch.final, nil, false)
}

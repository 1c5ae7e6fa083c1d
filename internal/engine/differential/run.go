// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Run does the steps of a case and returns their results as text. The test fails if they cannot be
// done.
func (b *Bench) Run(t testing.TB, c *Case) string {
	t.Helper()
	r := newRun(t, b, c)
	var text strings.Builder
	for i, step := range c.Steps {
		fmt.Fprintf(&text, "# %d: %s\n", i+1, step.line)
		text.WriteString(r.do(c, i+1, step))
	}
	return text.String()
}

// run is one run of a case.
type run struct {
	t         testing.TB
	bench     *Bench
	world     *world
	component stackaddrs.AbsComponentInstance
	dir       string
	state     engine.State
	works     int
	out       bytes.Buffer
}

// newRun returns a run of a case that begins with a bench.
func newRun(t testing.TB, b *Bench, c *Case) *run {
	t.Helper()
	b.runs++
	name := fmt.Sprintf("run%d", b.runs)
	w, err := newWorld(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	component, err := stackaddrs.ParseAbsComponentInstance("component.c")
	if err != nil {
		t.Fatal(err)
	}
	if c.ByHand != "" { // terraform could not make the deferred changes when it plans once more
		w.deferring = true
	}
	return &run{t: t, bench: b, world: w, component: component, dir: filepath.Join(b.stackDir, name)}
}

// do does a step with the files of a step and returns its result as text.
func (r *run) do(c *Case, files int, step Step) string {
	r.t.Helper()
	r.out.Reset()
	if err := r.step(c, files, step); err != nil {
		r.t.Fatalf("step %s: %v", step.line, err)
	}
	return strings.NewReplacer(r.world.dir, "WORLD", filepath.Base(r.dir)+"/", "").Replace(r.out.String())
}

// timestamp is the result of plantimestamp.
var timestamp = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// versions is a file of all modules that use the provider, in which nothing says otherwise.
const versions = `terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`

// requiredVersion is a constraint on the version of terraform on a line of its own, also in JSON.
var requiredVersion = regexp.MustCompile(`(?m)^[ \t]*"?required_version"?\s*[=:]\s*"(.*)",?$`)

func (r *run) step(c *Case, n int, step Step) (err error) {
	switch step.Verb {
	case "set":
		return r.set(step)
	case "gone":
		return testprovider.Store{Dir: r.world.store}.Delete(step.Object)
	case "unlink":
		return os.Remove(step.Object)
	}
	files, others := c.files(n)
	requireProvider(files, bytes.Contains(txtar.Format(c.archive), []byte("fake_")))
	if r.bench.anyVersion {
		for name, text := range files {
			files[name] = requiredVersion.ReplaceAll(text, nil) // and leave the line, which counts in places
		}
	}
	if err := writeFiles(r.dir, files); err != nil {
		return err
	}
	if r.works == 0 {
		if prior := others[priorFile]; prior != nil {
			r.state = nativetest.State(r.t, nativetest.Objects(r.t, string(prior)))
		} else if prior := others[priorStateFile]; prior != nil {
			r.state = engine.State(prior)
		}
	}
	s, diags, err := r.bench.openSession(r.t.Context(), r.dir, r.world.environ())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if diags.HasErrors() {
		showDiagnostics(&r.out, diags)
		return nil
	}
	if step.Verb == "validate" {
		showDiagnostics(&r.out, s.ValidateModule(s.ctx, r.dir))
		return nil
	}
	return r.plan(s, step, others)
}

func (r *run) plan(s *session, step Step, others map[string][]byte) error {
	if step.Unknown {
		s.forgetRegion()
	}
	inputs, err := readInputs(others[inputsFile], s.module.Variables)
	if err != nil {
		return err
	}
	plan, diags := s.Plan(s.ctx, &engine.PlanRequest{
		Work: r.work(), Component: r.component, ModuleDir: r.dir, Mode: step.Mode, Inputs: inputs, Providers: s.providers, PriorState: r.state,
		SkipRefresh: step.SkipRefresh, Replace: step.Replace, Timestamp: timestamp, DeferAll: step.DeferAll,
	}, nil)
	if plan != nil && !diags.HasErrors() {
		showPlan(&r.out, plan, step.Mode)
	}
	showDiagnostics(&r.out, diags)
	if err := r.showCalls("planning", false); err != nil {
		return err
	}
	if step.Verb == "plan" || plan == nil || diags.HasErrors() || !plan.Applyable {
		return nil
	}
	apply := &engine.ApplyRequest{
		Work: r.work(), Component: r.component, ModuleDir: r.dir, Mode: step.Mode, Planned: plan, PlannedInputs: inputs, Timestamp: timestamp,
		Inputs: inputs, Providers: s.providers, PriorState: r.state,
	}
	if others[applyInputsFile] != nil {
		if apply.Inputs, err = readInputs(others[applyInputsFile], s.module.Variables); err != nil {
			return err
		}
	}
	return r.apply(s, step, apply)
}

func (r *run) apply(s *session, step Step, req *engine.ApplyRequest) error {
	result, diags := s.Apply(s.ctx, req, nil)
	r.out.WriteString("applied\n")
	if result != nil {
		r.state = result.State
		if err := showResult(&r.out, result, step.Mode); err != nil {
			return err
		}
	}
	showDiagnostics(&r.out, diags)
	if err := s.Acknowledge(s.ctx, req.Work); err != nil {
		return err
	}
	return r.showCalls("applying", step.Ordered)
}

func (r *run) work() engine.WorkID {
	r.works++
	return engine.WorkID(fmt.Sprintf("work-%d", r.works))
}

func (r *run) showCalls(while string, ordered bool) error {
	calls, err := r.world.takeCalls()
	if err != nil || r.bench.withoutCalls {
		return err
	}
	showCalls(&r.out, while, calls, ordered)
	return nil
}

// set changes an object outside, or makes one.
func (r *run) set(step Step) error {
	store := testprovider.Store{Dir: r.world.store}
	object, err := store.Get(step.Object)
	if err != nil {
		object = &testprovider.Object{ID: step.Object, Values: map[string]json.RawMessage{}}
		object.Values["id"], err = json.Marshal(step.Object)
		if err != nil {
			return err
		}
	}
	for name, value := range step.Values {
		if name == "type" {
			object.Type = value
			continue
		}
		object.Values[name] = json.RawMessage(value)
	}
	return store.Put(object)
}

// requireProvider adds requirements of providers to the modules that lack them: those that use the
// provider, and the root module if anything in the case does.
func requireProvider(files map[string][]byte, root bool) {
	for _, name := range slices.Collect(maps.Keys(files)) {
		dir := path.Dir(name)
		uses, requires := root && dir == ".", false
		for other, text := range files {
			if path.Dir(other) == dir {
				uses = uses || bytes.Contains(text, []byte("fake_"))
				requires = requires || bytes.Contains(text, []byte("required_providers"))
			}
		}
		if uses && !requires {
			files[path.Join(dir, "versions.tf")] = []byte(versions)
		}
	}
}

// writeFiles makes a directory that has certain files and no others.
func writeFiles(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

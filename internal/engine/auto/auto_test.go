// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// fake is an engine with a preparer that records its requests.
type fake struct {
	*memengine.Engine
	info  engine.Info
	lacks string // base name of the directory of the module that it does not support

	unstartable string // base name of the directory of a module whose provider does not start
	tofu        bool   // all modules are for tofu
	prepared    int
}

func newFake(name, lacks string, modules map[string]*memengine.Module) *fake {
	info := engine.Info{Name: name, Version: "1.0.0"}
	return &fake{info: info, lacks: lacks, Engine: memengine.New(memengine.Options{Info: info, Modules: modules})}
}

func (f *fake) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	session, err := f.Engine.Open(ctx, opts)
	return fakeSession{session, f}, err
}

type fakeSession struct {
	engine.Session
	of *fake
}

func (s fakeSession) Abilities() engine.Abilities {
	abilities := s.Session.Abilities()
	abilities.Preparer, abilities.Assessor = s.of, s.of
	if s.of.tofu {
		abilities.Chooser = s.of
	}
	return abilities
}

// Choice implements [engine.Chooser].
func (f *fake) Choice(context.Context, string) (engine.Choice, hcl.Diagnostics) {
	return engine.Choice{Engine: f.info, Reason: engine.Reason{Code: engine.ReasonTofu, Text: "It is for tofu."}}, nil
}

// Assess implements [engine.Assessor].
func (f *fake) Assess(ctx context.Context, dir string) *engine.Reason {
	if diags := f.Unsupported(ctx, []string{dir}); len(diags) > 0 {
		why := &engine.Reason{Code: engine.ReasonFeature, Text: diags[0].Detail, Subject: diags[0].Subject}
		if f.tofu {
			why.Code = engine.ReasonTofuFiles
		}
		return why
	}
	if f.prepared > 0 && f.unstartable != "" && filepath.Base(dir) == f.unstartable {
		return &engine.Reason{Code: engine.ReasonProvider, Text: "It does not start."}
	}
	return nil
}

// AssessState implements [engine.Assessor].
func (f *fake) AssessState(state engine.State) *engine.Reason {
	if strings.Contains(string(state), "unheard") {
		return &engine.Reason{Code: engine.ReasonState, Text: "It has something unheard of."}
	}
	return nil
}

func (f *fake) Unsupported(_ context.Context, dirs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, dir := range dirs {
		if filepath.Base(dir) == f.lacks {
			at := hcl.Range{Filename: f.lacks + "/main.tf", Start: hcl.Pos{Line: 3}}
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Unsupported module feature", Detail: "There is no such thing.",
				Subject: &at,
			})
		}
	}
	return diags
}

func (f *fake) Prepare(context.Context, *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	f.prepared++
	return &engine.PrepareResult{}, nil
}

func (f *fake) Locks(context.Context) (map[stackaddrs.Provider]string, error) {
	return map[stackaddrs.Provider]string{{Type: f.info.Name}: "1.0.0"}, nil
}

// setup is a stack with the modules "plain" and "special", of which the native engine supports the
// first.
type setup struct {
	t              *testing.T
	dir            string
	native, binary *fake
	none           error // why there is no binary
	opened         int   // how often the binary was looked for
	session        *auto.Session
}

func newSetup(t *testing.T, binary string) *setup {
	s := &setup{t: t, dir: t.TempDir()}
	modules := map[string]*memengine.Module{}
	for _, name := range []string{"plain", "special", "impossible"} {
		modules[s.module(name)] = &memengine.Module{
			Variables: memengine.Variables("v"), Outputs: memengine.Outputs("o"),
			Values: func(s memengine.Scope) (map[string]cty.Value, error) {
				return map[string]cty.Value{"o": s.Inputs["v"]}, nil
			},
		}
	}
	s.native, s.binary = newFake("native", "special", modules), newFake(binary, "impossible", modules)
	e := auto.New(auto.Options{
		Native: s.native,
		Binary: func(context.Context) (engine.Engine, error) { s.opened++; return s.binary, s.none },
	})
	s.session = enginetest.Open(t, e, engine.SessionOptions{StackDir: s.dir}).(*auto.Session)
	return s
}

func (s *setup) module(name string) string { return filepath.Join(s.dir, name) }

// wantChoice checks which engine does a module, the reason, and the line that it is about; 0 for
// none.
func (s *setup) wantChoice(module string, by *fake, code engine.ReasonCode, line int) {
	s.t.Helper()
	choice, diags := s.session.Abilities().Chooser.Choice(s.t.Context(), s.module(module))
	if diags.HasErrors() {
		s.t.Fatal(diags)
	}
	at := 0
	if choice.Reason.Subject != nil {
		at = choice.Reason.Subject.Start.Line
	}
	if choice.Engine != by.info || choice.Reason.Code != code || at != line || choice.Reason.Text == "" {
		s.t.Errorf("Choice(%s) = %+v in line %d, want %v for %q in line %d", module, choice, at, by.info, code, line)
	}
}

// plan plans a component, and applies the plan. It returns the engines that did it.
func (s *setup) plan(module string) string {
	s.t.Helper()
	inputs := map[string]cty.Value{"v": cty.StringVal("x")}
	plan, diags := s.session.Plan(s.t.Context(), &engine.PlanRequest{
		Work: engine.WorkID("plan " + module), ModuleDir: s.module(module),
		Inputs: inputs,
	}, nil)
	if diags.HasErrors() {
		s.t.Fatal(diags)
	}
	id := engine.WorkID("apply " + module)
	_, diags = s.session.Apply(s.t.Context(), &engine.ApplyRequest{
		Work: id, ModuleDir: s.module(module), PlannedInputs: inputs,
		Inputs: inputs, Planned: plan,
	}, nil)
	if diags.HasErrors() {
		s.t.Fatal(diags)
	}
	if err := s.session.Acknowledge(s.t.Context(), id); err != nil {
		s.t.Error(err)
	}
	return plan.Engine.Name
}

func TestContract(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		e, err := native.New(native.Options{WorkDir: filepath.Join(stackDir, ".cairn")})
		if err != nil {
			t.Fatal(err)
		}
		return auto.New(auto.Options{Native: e, Binary: func(context.Context) (engine.Engine, error) { return nil, errors.New("none") }})
	})
}

func TestEachModuleByOneEngine(t *testing.T) {
	s := newSetup(t, "terraform")
	if got := s.plan("plain"); got != "native" || s.opened != 0 {
		t.Errorf("the plain module is planned by %s; the binary was looked for %d times", got, s.opened)
	}
	for range 2 { // the binary is opened once
		if got := s.plan("special"); got != "terraform" || s.opened != 1 {
			t.Errorf("the special module is planned by %s; the binary was looked for %d times", got, s.opened)
		}
	}
	s.wantChoice("plain", s.native, engine.ReasonSupported, 0)
	s.wantChoice("special", s.binary, engine.ReasonFeature, 3)
	for _, made := range []engine.Info{s.native.info, s.binary.info} {
		if !s.session.CanApply(made) {
			t.Errorf("plans of %v cannot be applied", made)
		}
	}
	if s.session.CanApply(engine.Info{Name: "terraform", Version: "2.0.0"}) {
		t.Error("plans of another version can be applied")
	}
}

func TestWithoutBinary(t *testing.T) {
	s := newSetup(t, "terraform")
	s.none = errors.New("there is no terraform")
	if got := s.plan("plain"); got != "native" {
		t.Errorf("the plain module is planned by %s", got)
	}
	module, diags := s.session.Module(t.Context(), s.module("special"))
	if module == nil || len(diags) != 1 {
		t.Fatalf("Module = %v, %v", module, diags)
	}
	for _, want := range []string{"There is no such thing.", "There is no terraform."} {
		if !strings.Contains(diags[0].Detail, want) {
			t.Errorf("the detail is %q, want %q in it", diags[0].Detail, want)
		}
	}
	if diags[0].Subject == nil || diags[0].Subject.Start.Line != 3 {
		t.Errorf("it is about %v", diags[0].Subject)
	}
	if _, diags := s.session.Plan(t.Context(), &engine.PlanRequest{Work: "w", ModuleDir: s.module("special")}, nil); !diags.HasErrors() {
		t.Error("it is planned all the same")
	}
	if _, diags := s.session.Apply(t.Context(), &engine.ApplyRequest{Work: "a", Planned: &engine.PlanResult{Engine: s.binary.info}},
		nil); !diags.HasErrors() || diags[0].Summary != "Engine of the plan not found" {
		t.Errorf("a plan of terraform: %v", diags)
	}
	if s.session.CanApply(s.binary.info) {
		t.Error("plans of terraform can be applied")
	}
}

func TestPreparing(t *testing.T) {
	for _, test := range []struct {
		binary         string
		modules        []string
		native, opened int // how often each was prepared
		locks, err     string
	}{
		{"terraform", []string{"plain"}, 1, 0, "native", ""},
		{"terraform", []string{"plain", "special"}, 1, 1, "native", ""},
		{"tofu", []string{"plain"}, 1, 0, "native", ""},
		{"tofu", []string{"plain", "special"}, 0, 1, "tofu", ""},
	} {
		s := newSetup(t, test.binary)
		var dirs []string
		for _, name := range test.modules {
			dirs = append(dirs, s.module(name))
		}
		preparer := s.session.Abilities().Preparer
		if diags := preparer.Unsupported(t.Context(), dirs); diags.HasErrors() {
			t.Errorf("%v: %v", test, diags)
		}
		if _, diags := preparer.Prepare(t.Context(), &engine.PrepareRequest{Modules: dirs}); diags.HasErrors() {
			t.Errorf("%v: %v", test, diags)
		}
		if s.native.prepared != test.native || s.binary.prepared != test.opened {
			t.Errorf("%v: the native engine was prepared %d times, the binary %d times", test, s.native.prepared, s.binary.prepared)
		}
		locks, err := preparer.Locks(t.Context())
		if _, ok := locks[stackaddrs.Provider{Type: test.locks}]; !ok || err != nil {
			t.Errorf("%v: Locks = %v, %v", test, locks, err)
		}
		if test.binary == "tofu" && len(dirs) == 2 {
			if got := s.plan("plain"); got != "tofu" {
				t.Errorf("beside a module that needs tofu, another one is planned by %s", got)
			}
		}
	}
}

func TestUnsupportedByAll(t *testing.T) {
	s := newSetup(t, "terraform")
	s.native.lacks = "impossible"
	diags := s.session.Abilities().Preparer.Unsupported(t.Context(), []string{s.module("impossible")})
	if len(diags) != 1 || diags[0].Summary != "Unsupported module feature" {
		t.Errorf("Unsupported = %v", diags)
	}
}

func TestStop(t *testing.T) {
	s := newSetup(t, "terraform")
	if err := s.session.Stop(t.Context(), "nothing", engine.Gracefully); !errors.Is(err, engine.ErrUnknownWork) {
		t.Errorf("Stop = %v", err)
	}
	observe := func(event engine.Event) {
		if event.Type == engine.WorkBegan {
			if err := s.session.Stop(t.Context(), "w", engine.Gracefully); err != nil {
				t.Error(err)
			}
		}
	}
	_, diags := s.session.Plan(t.Context(), &engine.PlanRequest{Work: "w", ModuleDir: s.module("plain")}, observe)
	if !diags.HasErrors() || len(s.native.Calls()) > 0 {
		t.Errorf("work that was stopped as it began: %v, %v", diags, s.native.Calls())
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// prepare prepares the modules of a stack.
func (s *setup) prepare(modules ...string) {
	s.t.Helper()
	var dirs []string
	for _, name := range modules {
		dirs = append(dirs, s.module(name))
	}
	if _, diags := s.session.Abilities().Preparer.Prepare(s.t.Context(), &engine.PrepareRequest{Modules: dirs}); diags.HasErrors() {
		s.t.Fatal(diags)
	}
}

// A provider that does not start is known once it is installed, and counts only where there is
// another engine.
func TestUnstartableProvider(t *testing.T) {
	for _, test := range []struct {
		binary string
		none   error
		want   string // the engine that plans the module plain
		opened int    // how often the binary was prepared
	}{
		{"terraform", nil, "terraform", 1},
		{"tofu", nil, "tofu", 1},
		{"terraform", errors.New("there is none"), "native", 0},
	} {
		s := newSetup(t, test.binary)
		s.native.unstartable, s.none = "plain", test.none
		s.wantChoice("plain", s.native, engine.ReasonSupported, 0)
		s.prepare("plain")
		if test.want != "native" {
			s.wantChoice("plain", s.binary, engine.ReasonProvider, 0)
		}
		if got := s.plan("plain"); got != test.want || s.binary.prepared != test.opened {
			t.Errorf("%s, %v: planned by %s, and the binary was prepared %d times", test.binary, test.none, got, s.binary.prepared)
		}
	}
}

// A state that the native engine does not know as a whole is left to the binary, which is prepared
// for it.
func TestUnknownState(t *testing.T) {
	for _, test := range []struct {
		binary string
		none   error
		want   string // in the error; "" for none
	}{
		{"terraform", nil, ""},
		{"tofu", nil, "name it as its engine"},
		{"terraform", errors.New("there is none"), "There is none."},
	} {
		s := newSetup(t, test.binary)
		s.none = test.none
		s.prepare("plain")
		plan, diags := s.session.Plan(t.Context(), &engine.PlanRequest{
			Work:       "w",
			ModuleDir:  s.module("plain"),
			Inputs:     map[string]cty.Value{"v": cty.StringVal("x")},
			PriorState: engine.State(`{"version":4,"unheard":true}`),
		}, nil)
		if test.want != "" {
			if len(diags) != 1 || diags[0].Summary != "Unknown content of state" || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("%s, %v: %v", test.binary, test.none, diags)
			}
			continue
		}
		if s.binary.prepared != 1 || plan == nil || plan.Engine != s.binary.info || plan.Reason.Code != engine.ReasonState {
			t.Errorf("%s: prepared %d times, plan %+v, %v", test.binary, s.binary.prepared, plan, diags)
		}
	}
}

// Where another module needs tofu, all are done by it, and those say so.
func TestOtherModuleNeedsTofu(t *testing.T) {
	s := newSetup(t, "tofu")
	s.prepare("plain", "special")
	s.wantChoice("plain", s.binary, engine.ReasonOfOtherModule, 0)
	s.wantChoice("special", s.binary, engine.ReasonFeature, 3)
	if got := s.session.Info(); got != s.binary.info {
		t.Errorf("Info() = %v", got)
	}
}

// Modules for tofu are done by the native engine or by tofu, and never by terraform, which would
// take them for others.
func TestModulesForTofu(t *testing.T) {
	for _, binary := range []string{"terraform", "tofu"} {
		s := newSetup(t, binary)
		s.native.tofu = true
		s.wantChoice("plain", s.native, engine.ReasonTofu, 0)
		_, diags := s.session.Plan(t.Context(), &engine.PlanRequest{
			Work: "w", ModuleDir: s.module("plain"), PriorState: engine.State(`{"version":4,"unheard":true}`),
		}, nil)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, "The module is for tofu.") {
			t.Errorf("%s: with an unknown state: %v", binary, diags)
		}
		if binary == "tofu" {
			s.wantChoice("special", s.binary, engine.ReasonTofuFiles, 3)
			continue
		}
		_, diags = s.session.Abilities().Chooser.Choice(t.Context(), s.module("special"))
		if len(diags) != 1 || diags[0].Summary != "Module for tofu" || diags[0].Subject.Start.Line != 3 {
			t.Errorf("a module that terraform cannot do: %v", diags)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestStackIdentity(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "live", "eu")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := stackIdentity(dir); got != "" {
		t.Errorf("outside of a repository: got %q", got)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := stackIdentity(dir), "live/eu"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithoutRepeats(t *testing.T) {
	const phrase = "it is damaged: "
	for _, test := range []struct{ text, want string }{
		{"p: it is damaged: component.app: it is damaged: member 1", "p: it is damaged: component.app: member 1"},
		{"p: it is damaged: member 1", "p: it is damaged: member 1"},
		{"p: something else", "p: something else"},
	} {
		if got := withoutRepeats(test.text, phrase); got != test.want {
			t.Errorf("withoutRepeats(%q): got %q, want %q", test.text, got, test.want)
		}
	}
}

// A plan may use several engines, each of which must be there.
func TestEngineOfComponent(t *testing.T) {
	terraform, native := engine.Info{Name: "terraform", Version: "1.11.4"}, engine.Info{Name: "native", Version: "0.1.0"}
	addr, err := stackaddrs.ParseAbsComponentInstance("component.a")
	if err != nil {
		t.Fatal(err)
	}
	plan := &stackplan.Plan{
		Applyable: true, Engine: terraform,
		Components: []*stackplan.Component{{Addr: addr, Engine: native, EnginePlan: []byte("x")}},
	}
	target := Target{
		Config: &stackconfig.Config{Root: &stackconfig.Stack{Dir: t.TempDir()}}, Engine: terraform,
		CanApply: func(made engine.Info) bool { return made == terraform || made == native },
	}
	if err := target.checkOrigin(plan, stackplan.FileContext{}); err != nil {
		t.Errorf("with both engines: %v", err)
	}
	target.CanApply = func(made engine.Info) bool { return made == terraform }
	if err := target.checkOrigin(plan, stackplan.FileContext{}); err == nil ||
		!strings.Contains(err.Error(), "component.a was planned with native 0.1.0") {
		t.Errorf("with one of them: got %v, want that the component and its engine are named", err)
	}
}

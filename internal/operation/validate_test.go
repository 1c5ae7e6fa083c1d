// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// faulty is a session in which every module has an error.
type faulty struct{ engine.Session }

func (faulty) ValidateModule(context.Context, string) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Missing name"}}
}

// An engine's error about a resource is no mistake in the module, also once the runtime has added
// the component that it is in.
func TestIsMistake(t *testing.T) {
	s := Open(Options{Env: env.Options{Dir: t.TempDir()}})
	inComponent := func(data *engine.DiagnosticData) any { return fault.Address{Inner: data} }
	for name, test := range map[string]struct {
		extra any
		want  bool
	}{
		"of the module":   {inComponent(&engine.DiagnosticData{Block: `resource "a" "b"`}), true},
		"without data":    {nil, true},
		"of the provider": {inComponent(&engine.DiagnosticData{Resource: "a.b", Block: `resource "a" "b"`}), false},
		"not wrapped":     {&engine.DiagnosticData{Resource: "a.b"}, false},
	} {
		diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: &hcl.Range{Filename: "m/main.tf"}, Extra: test.extra}
		if got := (checks{stack: s}).isMistake(t.Context(), stackruntime.Options{Session: faulty{}}, diag); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

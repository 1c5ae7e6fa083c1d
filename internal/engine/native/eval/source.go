// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Source is where a value comes from, for diagnostics about it.
type Source struct {
	Range       hcl.Range
	Expression  hcl.Expression // nil if there is none
	EvalContext *hcl.EvalContext
	Resource    string // address of the resource instance that it is for, or ""
}

// Result is the value of an expression.
type Result struct {
	Source
	Value cty.Value
}

// Error returns an error about the value.
func (s *Source) Error(summary, detail string) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: detail,
		Subject: s.Range.Ptr(), Expression: s.Expression, EvalContext: s.EvalContext,
	}
	if s.Resource != "" {
		diag.Extra = &engine.DiagnosticData{Resource: s.Resource}
	}
	return diag
}

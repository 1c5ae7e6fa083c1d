// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Said reports the diagnostics of a provider about an instance, and whether none of them is an
// error.
func (rt *Runtime) Said(t *Target, diags provider.Diagnostics) bool {
	for _, diag := range diags {
		rt.Eval.Diagnostics.Add(t.diagnostic(diag))
	}
	return !diags.HasErrors()
}

func (t *Target) diagnostic(said provider.Diagnostic) *hcl.Diagnostic {
	diag := Placed(said, t.Decoder, t.Body(), t.block())
	diag.Extra = &engine.DiagnosticData{Resource: t.Address}
	if t.Lenient {
		diag.Severity = hcl.DiagWarning
	}
	if said.Severity == provider.Error {
		t.Failure = said.Summary + ": " + said.Detail
	}
	return diag
}

// Placed returns the diagnostic of a provider about a part of a body, or else about a block. The
// body may be nil.
func Placed(said provider.Diagnostic, decoder *body.Decoder, body hcl.Body, block *hcl.Range) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: said.Summary, Detail: said.Detail, Subject: block}
	if said.Severity == provider.Warning {
		diag.Severity = hcl.DiagWarning
	}
	if body != nil && len(said.Path) > 0 {
		if at := decoder.Range(body, said.Path); at != nil {
			diag.Subject = at
		}
	}
	return diag
}

// broken reports that a provider has broken the rules, with the errors by the parts of the object.
func (rt *Runtime) broken(t *Target, summary, what string, errs []error) bool {
	if len(errs) == 0 {
		return true
	}
	return rt.fail(t, summary, "The provider "+t.Of.String()+" "+what+" "+t.Address+":\n"+listed(errs)+
		"\n\nThat is a mistake in the provider, which its authors should hear of.")
}

// listed returns errors about the parts of an object, a line each.
func listed(errs []error) string {
	var b strings.Builder
	for _, err := range errs {
		b.WriteString("\n  - " + marks.DescribeError(cty.NilVal, err))
	}
	return b.String()
}

// described returns the address of the action or the resource instance.
func (t *Target) described() string {
	if t.Action != nil {
		return t.Action.Addr(t.key).String()
	}
	return t.Address
}

// fail reports an error about an instance.
func (rt *Runtime) fail(t *Target, summary, detail string) bool {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: t.block()}
	if t.Lenient {
		diag.Severity = hcl.DiagWarning
	}
	t.Failure = summary + ": " + detail
	rt.Eval.Diagnostics.AddTo(t.Address, diag)
	return false
}

// settled reports whether a configuration is known as a whole. Unknown parts are reported as
// errors.
func (rt *Runtime) settled(t *Target, config cty.Value) bool {
	unknown := notKnown(config)
	if len(unknown) == 0 {
		return true
	}
	var b strings.Builder
	b.WriteString("The configuration of " + t.described() + " still has unknown parts, although all that it depends on is done:\n")
	for _, err := range unknown {
		b.WriteString("\n  - " + marks.DescribeError(cty.NilVal, err))
	}
	return rt.fail(t, "Configuration contains unknown value", b.String())
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// WithholdSecrets keeps sensitive and ephemeral values out of the diagnostics of one evaluation.
//
// HCL takes the marks off a collection before a "for" expression goes through it, so in there its
// elements look harmless: the names of iterators, and messages of functions about them. And it
// quotes duplicate keys whatever their marks. A function that panics may have quoted anything,
// besides its stack; see [withholdPanic]. refs are the references of the evaluated expression.
func WithholdSecrets(diags hcl.Diagnostics, refs []hcl.Traversal, evalCtx *hcl.EvalContext) hcl.Diagnostics {
	for _, diag := range diags {
		withholdPanic(diag)
		if diag.EvalContext == nil {
			continue
		}
		secret := false
		if diag.EvalContext != evalCtx {
			for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
				if anyContains(refs, evalCtx, mark) {
					secret = true
					diag.EvalContext = withMarkedIterators(diag.EvalContext, mark)
				}
			}
		}
		withholdDetail(diag, secret)
	}
	return diags
}

// panicText is how the errors begin that package function makes of panics, before the value and the
// stack. They come alone, and within those of templates and operators.
const panicText = "panic in function implementation: "

// withholdPanic is the last line behind functions that panic. No panic is known; the requirements
// of the functions keep those of the libraries away, and FuzzFunctions looks for more.
func withholdPanic(diag *hcl.Diagnostic) {
	before, _, panicked := strings.Cut(diag.Detail, panicText)
	if !panicked {
		return
	}
	if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag); ok {
		before = fmt.Sprintf("Function %q failed: ", call.CalledFunctionName())
	}
	diag.Detail = before + "It cannot work with such arguments, and did not say so. This is a bug in cairn; please report it."
}

// withholdDetail replaces a detail that quotes a value, if that may be a secret.
func withholdDetail(diag *hcl.Diagnostic, inSecretLoop bool) {
	call, isCall := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	switch {
	case isCall && call.FunctionCallError() != nil && inSecretLoop:
		diag.Detail = fmt.Sprintf("Function %q failed. The details are hidden, because an argument is made of a sensitive or ephemeral value.",
			call.CalledFunctionName())
	case diag.Summary == "Duplicate object key" && (inSecretLoop || isSecret(diag.Expression, diag.EvalContext)):
		diag.Detail = "Two different items produced the same key, which is hidden because it is made of a sensitive or ephemeral value. " +
			"If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key."
	}
}

// isSecret reports whether the value of an expression carries marks, or may do so.
func isSecret(e hcl.Expression, evalCtx *hcl.EvalContext) bool {
	if e == nil {
		return true
	}
	value, diags := e.Value(evalCtx)
	return diags.HasErrors() || marks.Hidden(value)
}

// anyContains reports whether a value that is referred to, or a part of it, carries a mark.
func anyContains(refs []hcl.Traversal, evalCtx *hcl.EvalContext, mark marks.Mark) bool {
	for _, ref := range refs {
		for steps := ref; len(steps) > 0; steps = steps[:len(steps)-1] {
			value, diags := steps.TraverseAbs(evalCtx)
			if diags.HasErrors() {
				continue // look at the steps before the one that fails
			}
			if marks.Contains(value, mark) {
				return true
			}
			break
		}
	}
	return false
}

// withMarkedIterators returns a context in which all names of the loops carry a mark.
func withMarkedIterators(evalCtx *hcl.EvalContext, mark marks.Mark) *hcl.EvalContext {
	parent := evalCtx.Parent()
	if parent == nil {
		return evalCtx
	}
	marked := withMarkedIterators(parent, mark).NewChild()
	marked.Functions = evalCtx.Functions
	if evalCtx.Variables != nil {
		marked.Variables = make(map[string]cty.Value, len(evalCtx.Variables))
		for name, value := range evalCtx.Variables {
			marked.Variables[name] = value.Mark(mark)
		}
	}
	return marked
}

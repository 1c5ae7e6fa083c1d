// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/nearest"
)

// suggestFunction has a diagnostic about a function that there is not propose the nearest one. HCL
// proposes any that is near, another one in each run.
func suggestFunction(diag *hcl.Diagnostic) {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](diag)
	if !ok {
		return
	}
	namespace, given := call.CalledFunctionNamespace(), call.CalledFunctionName()
	scope := diag.EvalContext
	for scope != nil && scope.Functions == nil {
		scope = scope.Parent()
	}
	if scope == nil {
		return
	}
	var names []string
	for name := range scope.Functions {
		if rest, within := strings.CutPrefix(name, namespace); within && !strings.Contains(rest, "::") {
			names = append(names, rest)
		}
	}
	if len(names) == 0 {
		return // there is no such namespace
	}
	diag.Detail = fmt.Sprintf("There is no function named %q.%s", namespace+given, nearest.DidYouMeanBelow(namespace, given, names))
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// policies is the part of a request to plan or apply that asks for policies.
type policies interface {
	GetTfpolicyPluginPath() string
	GetPolicyPaths() []string
}

// policySetup says that policies are not evaluated, if they are asked for: there is no program that
// could.
func policySetup(request policies) *stackspb.PolicySetupDiagnostics {
	if request.GetTfpolicyPluginPath() == "" || len(request.GetPolicyPaths()) == 0 {
		return nil
	}
	return &stackspb.PolicySetupDiagnostics{Diagnostics: []*stackspb.PolicyDiagnostic{{
		Result: stackspb.EvaluateResult_SETUP_ERROR_EVALUATE_RESULT,
		Diagnostic: &terraform1pb.Diagnostic{
			Severity: terraform1pb.Diagnostic_ERROR,
			Summary:  "Policies not evaluated",
			Detail:   "cairn does not evaluate policies. The operation goes on without them: check the plan in another way before it is applied.",
		},
	}}}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terraformplan makes the plan document of "terraform show -json PLANFILE" from the plan of
// one component, or of a root module, for programs that know nothing of stacks: scanners, policies,
// estimates of cost.
//
// The plan says what changes ([Document.PlannedValues], [Document.ResourceChanges]); the modules
// say the rest ([Document.Configuration]). Nobody runs terraform for it: a component that terraform
// has planned has the same document as one that the native engine has planned.
//
// Rules:
//
//	T1. Sensitive values are in clear, as in all documents of plans, and as terraform has them.
//	    Beside them stands where they are sensitive.
//	T2. A null that terraform writes is written: a policy that compares a value with null finds
//	    nothing where there is none.
//	T3. What a module has but its plan and its source do not tell is left out, not made up.
//
// The document differs from terraform's where a component differs from a root module:
//
//   - There is no member relevant_attributes, which is for showing drift.
//   - Variables that the component gives an unknown value have no value. Those that are ephemeral
//     have none either.
//   - Provider configurations are those that the stack passes to the component, by the names that
//     the module has for them. Their expressions are those of the stack, and references in them
//     lead to objects of the stack.
//   - The version is that of the binary that has planned, or the version of the language that the
//     native engine has.
//   - The prior state of a component that is to be destroyed has no data sources.
//   - Members that newer versions of terraform have are there where the plan has them: deferred
//     changes and identities of resources.
package terraformplan

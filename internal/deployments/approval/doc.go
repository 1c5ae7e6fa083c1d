// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package approval judges plans by the rules of deployment files: whether a plan may be applied
// without anybody being asked, and if not, why.
//
// Rules:
//
//   - A1. A plan without changes is approved by the built-in rule [EmptyPlan].
//   - A2. Any other plan is approved if there are rules for its deployment, those of its group and
//     those of orchestrate blocks, and every check of all of them holds.
//   - A3. A check that cannot be evaluated, or is not known to be true, does not hold.
//   - A4. A plan with errors is never approved.
package approval

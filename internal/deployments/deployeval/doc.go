// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deployeval evaluates the declarations of deployment files: the inputs of a deployment,
// the outputs that a stack publishes, and the checks by which plans are approved.
//
// Rules:
//
//   - V1. Only targets of the references of an expression are fetched: a token that no input of the
//     deployment uses is never asked for.
//   - V2. Each token, set of values and upstream snapshot is fetched at most once by an
//     [Evaluator], which serves one deployment in one operation.
//   - V3. Tokens and values of stores are sensitive and ephemeral, stable ones only sensitive, if
//     their set says so. Values that are made of them are as they are.
//   - V4. References were checked by deployconfig: an [Evaluator] is made only of declarations
//     without errors.
package deployeval

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package wiring is about values that units of a fleet have from each other: the expressions that
// give them, their references, and their values.
//
// The model:
//
//   - [Inputs] are the values of variables of one unit, as expressions. They refer to outputs of
//     other units, and to local values of the same file.
//   - A [Reference] is to one output of an [Origin], or to all of its outputs. [Inputs.References]
//     finds them without evaluating anything, so that edges follow from them.
//   - [Inputs.Values] evaluates with the [Outputs] of all origins. An output that is not known yet
//     makes all values that depend on it unknown, in their types.
//
// Rules:
//
//	N1. Names of stacks, deployments and outputs are written out: the dependencies of a unit are
//	    known before anything has a value.
//	N2. Sensitive outputs stay sensitive. No diagnostic quotes a value that has or may have that
//	    mark.
//	N3. A value with a part that is ephemeral is refused: it exists in one operation only.
//	N4. Functions whose results differ from call to call are refused, since values are evaluated
//	    again when a plan is applied.
package wiring

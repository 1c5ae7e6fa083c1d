// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package valuediff shows values, and how they change, in the way that users of
// terraform know from its plans.
//
// Values come from cty, or from the JSON of a state, and become a [Value], a tree in which secret
// and unknown parts are marked. No schema is needed: an object with attributes and a nested block
// look the same, as an attribute.
//
// The rules the compiler cannot check:
//
//	V1. A sensitive or ephemeral value is never written, nor is anything below it.
//	V2. Output depends on the values only: names are sorted, and nothing is random.
//	V3. Control characters never reach the output: a text that has them is quoted.
package valuediff

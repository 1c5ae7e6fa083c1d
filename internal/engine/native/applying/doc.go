// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package applying carries out the plan of one component.
//
// A plan becomes steps, each of which creates, updates, destroys, forgets or reads one object. Function schedule says for which others each of them waits;
// for the values that its configuration refers to, a step waits by itself. What nothing waits for is done at the same time.
//
// Rules:
//
//	A1. Each change is planned again before it is made, now that all values are known, and is not made unless it refines the planned one.
//	A2. What is done to an object is in the state, and was passed on, before anything begins that waits for it.
//	A3. When a step fails, those that wait for it are left out, and say nothing. All others go on.
//	A4. After the end of the context nothing begins. What providers do by then comes to its end, and is kept.
//
// The order of steps is that of terraform 1.11, which modules rely on.
package applying

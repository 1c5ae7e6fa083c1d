// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planning plans one component: what is to be done with each object that its modules
// declare, or that its state holds.
//
// All objects are dealt with at the same time, each as soon as what it refers to is planned:
// nothing here computes an order.
//
// Rules:
//
//	N1. Each object is read and planned once. Its diagnostics are those of the evaluation.
//	N2. What refers to something that failed is left out, and says nothing.
//	N3. Results are sorted at the end, and do not depend on what was finished first.
package planning

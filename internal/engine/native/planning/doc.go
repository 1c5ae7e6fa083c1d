// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planning plans one component: the change of each object that its modules declare, or that
// its state holds.
//
// All objects are dealt with at the same time, each as soon as the subjects of its references are
// planned: nothing here computes an order.
//
// Rules:
//
//	N1. Each object is read and planned once. Its diagnostics are those of the evaluation.
//	N2. Objects that refer to something that failed are left out, without diagnostics.
//	N3. Results are sorted at the end, and do not depend on the order in which they were finished.
package planning

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package reference knows the references between the declarations of a configuration.
//
// A [Graph] is derived once from the declarations, without values. Its items are the local values,
// outputs, provider configurations, components and removed blocks of all stacks of the tree, and
// three items for each stack call: its for_each, its inputs, and the outputs that it collects from
// the stack that it embeds. An edge leads from an item to a target of the references in its
// expressions. A variable is not an item: a reference to one of an embedded stack refers to the
// inputs of the call.
//
// Two questions are asked of it. [Graph.CheckCycles] reports items that depend on each other.
// [Graph.Requirements] raises the references of a block to components (docs/language.md, section
// 4.6): the graph without all other items, whose edges are kept. That ends at the borders of the
// stack with the block. The evaluator knows which components are in the instances of an embedded
// stack, and which block embeds this one.
//
// [Groups] and [Reach] are for graphs of any nodes. The evaluator asks them of components: which
// depend on each other by the records of a state, and which have to be planned with those that were
// selected.
package reference

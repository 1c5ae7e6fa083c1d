// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package eval evaluates the modules of one component on promises: one object for each module
// instance, variable, local value, output, module call, resource, action and check, whose value is
// computed once, when it is first asked for.
//
// The values of resource instances are decided by a phase, validating, planning or applying, which
// the evaluation asks through [Objects], and which asks the evaluation for the values of
// expressions in return.
//
// Rules:
//
//	V1. All methods with a context run in tasks of package promising.
//	V2. A value that could not be computed has been reported, once, by the object that it belongs to.
//	    Objects that need it get false and report nothing.
//	V3. The evaluation makes the objects of a module instance when it is first asked for one, so that
//	    there is one of each.
//	V4. A reference to a resource or module call waits for all its instances. That makes cycles those
//	    of blocks, as users know them.
//	V5. While validating, variables are unknown values of their types, and each block has one
//	    instance, without a key, for which each.key, each.value and count.index are unknown.
//	V6. While validating, all references are checked, also inside of try and can: they must name
//	    objects that the module declares, and of a resource only attributes that its schema has. An
//	    expression with a wrong reference is not evaluated, for that would find the same again.
//	V7. While validating, the value of an object that is wrong is unknown to those that need it, so
//	    that mistakes in these are found as well. Cycles are left to the graph of dependencies.
//	V8. A deprecated value is reported once for each place that uses it, by validating and planning:
//	    by the expression that it arrives in. Local values, outputs and arguments of calls pass on
//	    deprecated values inside of theirs, and arguments of calls those that they report, too. Nothing
//	    outside of the evaluation sees the marks.
package eval

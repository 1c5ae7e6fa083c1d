// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package lang provides the built-in functions of the languages of stacks and of modules, as cty
// functions.
//
// The set is that of Terraform 1.11 and every function is also present under "core::NAME".
// Functions whose behaviour is the same in the cty libraries come from there; the rest is here, one
// file a subject. The tests compare all of them with a real terraform.
//
// The rules the compiler cannot check:
//
//	L1. A table is made once for a run ([Tables]) and shared by all its evaluations. Nobody changes
//	    it.
//	L2. Functions are safe for concurrent use. Those that read files look at the disk on every call.
//	L3. Marks of arguments reach the result. Error messages never quote a marked argument.
//	L4. With [Options.PureOnly], a function whose result differs from call to call returns an
//	    unknown string, so that nothing is planned that apply would not repeat.
//	L5. try, can and templatestring look at expressions, not only values: they work where HCL calls
//	    them and nowhere else.
package lang

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package auto is an engine that hands each component to one of two others: the native one, which
// evaluates modules in this process, as far as it supports them, and else the one that runs
// terraform or tofu.
//
// Rules:
//
//	A1. The choice depends on the module alone, with all that it calls and the providers that it
//	    uses, so that it is the same for all instances of a component, and in each operation. Only a
//	    state that has something which the native engine does not know is left to the binary, too. An
//	    apply goes to the engine that made the plan.
//	A2. The binary is looked for, and its version asked for, when it is first needed: for a module,
//	    for a plan, or for work that it has left behind. Without one, an error names the feature that
//	    the native engine does not support, and its place.
//	A3. tofu and the native engine have different addresses for the same providers in lock files. If
//	    the binary is tofu, and needed for one component, it does all.
//	A4. The session works on as many components at the same time as it was opened for, whichever
//	    engine does them (rule E6 of package engine).
//	A5. A module that is for tofu, or calls one that is, is done by the native engine or by tofu.
//	    terraform does not read all of it, and so would take it for another module.
package auto

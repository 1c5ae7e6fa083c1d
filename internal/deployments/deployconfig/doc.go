// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deployconfig reads the deployment files of a stack: *.tfdeploy.hcl and *.tfdeploy.json in
// its root directory, which form one namespace (docs/deployments.md).
//
// The result is a [Config] of declarations. Expressions whose values come from outside, from
// tokens, stores and other stacks, are kept as they are written; arguments that must be constant
// (audiences, names, sources) have their values. Everything that needs no values is checked here:
// [LoadWith] checks the files by themselves, [Config.CheckStack] their use of the variables and
// outputs of the stack.
//
// The rules the compiler cannot check:
//
//	D1. With errors the configuration is as complete as it can be, and safe to check further: blocks
//	    with mistakes stay in it with their correct parts, names that are declared twice with their
//	    first declaration.
//	D2. Each mistake is one diagnostic, with the smallest range at fault. Load and CheckStack report
//	    different mistakes.
//	D3. An expression is checked by evaluating it: external values are unknown, and ephemeral if they
//	    must not be kept. So the composition of a value does not matter, and locals, functions and
//	    loops pass on their operands. Nothing outside of the directory is asked.
//	D4. The names that an expression may refer to depend on its place only: inputs and locals may
//	    refer to sources of values for variables, checks of approval rules to the contents of a plan,
//	    published outputs to outputs of deployments. Constant arguments may refer to locals alone.
//	D5. Each deployment is in exactly one group: the one that it names, or one of its own that nobody
//	    declares, "NAME_default".
//	D6. The order of deployments and of groups is that of their blocks: by file name, then by place.
//	    An automatic group stands where its deployment does.
//
// It does not know values, states, or how deployments are carried out.
package deployconfig

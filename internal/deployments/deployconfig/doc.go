// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deployconfig reads the deployment files of a stack: *.tfdeploy.hcl and *.tfdeploy.json in
// its root directory, which form one namespace (docs/deployments.md).
//
// The result is a [Config] of declarations. Expressions whose values come from outside, from
// tokens, stores and other stacks, are kept as they are written; arguments that say what there is
// (audiences, names, sources) have their values. What can be checked without values is checked
// here: [LoadWith] checks what the files say by themselves, [Config.CheckStack] what they say about
// the variables and outputs of the stack.
//
// The rules the compiler cannot check:
//
//	D1. With errors the configuration is as complete as it can be, and safe to check further: blocks
//	    with mistakes stay in it with what is right in them, names that are declared twice with their
//	    first declaration.
//	D2. Each mistake is one diagnostic, with the smallest range at fault. Load and CheckStack report
//	    different mistakes.
//	D3. An expression is checked by evaluating it: what is not known is unknown, what must not be
//	    kept is ephemeral. So what a value is made of does not matter, and locals, functions and
//	    loops pass on what they get. Nothing outside of the directory is asked.
//	D4. Which names an expression may refer to depends on its place only: inputs and locals to what
//	    gives values to variables, checks of approval rules to what a plan is, published outputs to
//	    outputs of deployments. Arguments that say what there is may refer to locals alone.
//	D5. Each deployment is in exactly one group: the one that it names, or one of its own that nobody
//	    declares, "NAME_default".
//	D6. The order of deployments and of groups is that of their blocks: by file name, then by place.
//	    An automatic group stands where its deployment does.
//
// It does not know values, states, or how deployments are carried out.
package deployconfig

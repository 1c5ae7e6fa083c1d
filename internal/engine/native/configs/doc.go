// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package configs is the configuration of modules of the Terraform language as the native engine
// evaluates it: every block decoded as far as that is possible without values and schemas, override
// files merged, and references found.
//
// Reading files and finding called modules is done by package module.
//
// Rules:
//
//	C1. A directory is decoded once for a [Loader], whatever the number of calls and of components
//	    that lead to it. Nobody changes the results.
//	C2. An error in one block does not hide the others: a [Module] has the parts that could be
//	    understood.
//	C3. Features that the engine lacks are found here, with their places, before anything is planned:
//	    see [Module.Unsupported].
package configs

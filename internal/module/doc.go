// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package module describes modules of the Terraform language from their source, without running an
// engine: variables, outputs, requirements of providers, called modules.
//
// It reads only the parts that the stacks runtime must know before a module is planned. Everything
// else in a module is left to the engine, which reports the errors there.
//
// Rules:
//
//	D1. A directory is read once per [Loader]. A program that must see later changes of the files
//	    makes a new Loader.
//	D2. Ranges name files relative to the loader's base directory, with forward slashes, as far
//	    as they can be reached from there. Files of source packages have their source address.
//	D3. Calls of modules are followed into local directories, and into source packages as far as
//	    there is a resolver for them.
//	D4. In a working copy, each call of a module in a package has the package in a directory of its
//	    own, named as init would have named it, so that path.module is the one that users expect.
package module

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package module reads modules of the Terraform language without running an engine: the files of a
// module, its blocks decoded as far as that is possible without values and schemas, override files
// merged, references found, and called modules.
//
// All engines have the same [Tree]. [Loader.Load] reports the mistakes that the stacks runtime must
// know before a module is planned, and leaves the others to the program that an engine runs;
// [Loader.LoadStrict] reports all of them, for an engine that has no such program.
//
// Rules:
//
//	D1. A directory is read and decoded once per [Loader], whatever the number of calls and of
//	    components that lead to it. Nobody changes the results. A program that must see later changes
//	    of the files makes a new Loader.
//	D2. Ranges name files relative to the loader's base directory, with forward slashes, as far
//	    as they can be reached from there. Files of source packages have their source address.
//	D3. Calls of modules are followed into local directories, and into source packages as far as
//	    there is a resolver for them.
//	D4. In a working copy, each call of a module in a package has the package in a directory of its
//	    own, named as init would have named it, so that path.module is the one that users expect.
//	D5. An error in one block does not hide the others: a [Directory] has the parts that could be
//	    understood.
//	D6. Features that the native engine lacks are found here, with their places, before anything is
//	    planned: see [Directory.Unsupported].
//	D7. With [Options.ForTofu], a directory that says that it is for tofu has the language of tofu: by
//	    a file that only tofu reads, or by a language block that asks for a version of OpenTofu. All
//	    others have that of terraform. Each directory is judged alone. A module does not know for
//	    which program the modules are that it calls or that call it, and one that is written for both
//	    has files of its own for tofu, be it called by whom it may. The language of tofu is that of
//	    terraform with the additions of OpenTofu, and the same addresses of providers: a stack
//	    has one language, and one set of providers, for all of its modules.
package module

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package varset reads the values of variable sets, which a stack's store blocks name: from files,
// from the environment, or from the output of a command.
//
// Where they are is said in the settings file, by the name or the ID of the set. Files may be
// encrypted with age, which is done here, or with sops, which is left to that program: its library
// brings the clients of six clouds along. Nothing here knows deployment files.
//
// Rules:
//
//	V1. Nothing is read or run before a set is asked for. Then it is read once, for all concurrent
//	    and later callers.
//	V2. No error and no warning has a value in it, nor a part of one: not the expected and the actual
//	    character, either.
//	V3. Values of files are written out: no references, no loops, no calculations, and in JSON no
//	    templates. Every "${" in JSON, YAML and dotenv files is just that.
//	V4. Variables of category env are strings.
package varset

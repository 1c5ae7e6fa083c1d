// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package lsp is the language server: it speaks the Language Server Protocol with an editor, about
// the files of stacks and about workspace files.
//
// The files that an editor has open are kept in a [snapshot.Workspace], and every request is
// answered from a snapshot of one stack. This package connects: it knows the protocol, the clients,
// and the times of requests. The features that need the syntax of a file only are in package
// outline; the meaning of places in files is in package language.
//
// Rules:
//
//	S1. Notifications change the knowledge of the server, one after the other, in the order in which
//	    they were sent. Requests are answered at the same time, from the knowledge at their
//	    beginning; those that are cancelled end with the error that the protocol has for that.
//	S2. No request starts a process. In the background, providers are asked for their schemas, by
//	    packages that the user has and no checkout has brought; only these schemas are written to a
//	    file. Nothing is downloaded. Expressions read no file outside of the folders and the stack.
//	S3. Diagnostics are those of `cairn validate`, as far as these need no process. The diagnostics
//	    in an editor are always replaced as a whole for one file, and by the newest run: a run that
//	    is overtaken by an edit reports nothing.
//	S4. A panic in a request is an error of that request. The log has names and paths, never
//	    values.
package lsp

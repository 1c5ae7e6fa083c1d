// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package lsp is the language server: it speaks the Language Server Protocol with an editor, about
// the files of stacks and about workspace files.
//
// What an editor has open is kept in a [snapshot.Workspace], and every request is answered from a
// snapshot of one stack. This package connects: it knows the protocol, who asks, and when. What a
// file shows by its syntax is in package outline; what places in files mean is in package language.
//
// Rules:
//
//	S1. Notifications change what the server knows, one after the other, in the order in which
//	    they were sent. Requests are answered at the same time, from what was known when they
//	    began; those that are cancelled end with the error that the protocol has for that.
//	S2. No request starts a process. In the background, providers are asked for their schemas, by
//	    packages that the user has and no checkout has brought; only these schemas are written to a
//	    file. Nothing is downloaded. Expressions read no file outside of the folders and the stack.
//	S3. Diagnostics are those of `cairn validate`, as far as these need no process. What an editor
//	    shows is always replaced as a whole for one file, and by the newest run: a run that is
//	    overtaken by an edit reports nothing.
//	S4. A panic in a request is an error of that request. The log has names and paths, never
//	    values.
package lsp

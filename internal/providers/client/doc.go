// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package client speaks with the process of a provider plugin: it is a [provider.Provider] over
// versions 5 and 6 of the provider protocol.
//
// A process is not trusted to keep the protocol in its answers. Values are decoded by the types of
// the schema; any mistake in one, in a path or in a whole message is an error diagnostic, never a
// panic.
//
// Rules:
//
//	C1. A value that is absent in an answer is null. Values are sent as MessagePack, and read as that
//	    or as JSON.
//	C2. A diagnostic without a valid severity is an error.
//	C3. An answer is deferred only where the request allows it: a provider that defers another one
//	    has made a mistake.
//	C4. A call whose context ends is given up; the process goes on.
package client

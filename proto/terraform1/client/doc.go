// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package client drives stacks over the RPC API: it starts a server of the API in a process of its
// own, opens stacks there, plans and applies them, and keeps their plans and states in files. The
// command rpcapi of cairn is such a server.
//
// A [Client] is one process. A [Stack] is what an operation needs, opened there together: a source
// bundle, a configuration in it, locks of providers and a cache of them. A [Plan] and a [State] are
// data of the caller, who stores them; they outlive the process, and others can read them.
//
// Rules:
//
//   - C1. What the caller or the process did wrong is an error, which has a gRPC status where the
//     server gave one. What is wrong with a configuration, a provider or a registry is in
//     [Diagnostics]. Operations that came to nothing because of that return [*DiagnosticsError],
//     too.
//   - C2. Callbacks are called one after the other, in the goroutine of their operation. What they
//     return late, the operation waits for.
//   - C3. An apply is never broken off, for then the state of what it has done would be lost. It
//     stops: see [Stack.Apply].
//   - C4. What the server sends is kept byte for byte, and so is what this package does not know.
package client

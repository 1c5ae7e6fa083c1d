// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package wire converts between the model of the runtime and the messages of the RPC API.
//
// Rules:
//
//   - W1. Marks are not part of values: sensitive parts are listed by their paths. Nothing
//     ephemeral is sent.
//   - W2. A client may send anything. Decoding it gives an error, never a panic, and nothing that
//     it does not say is made up.
package wire

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rpctest tests the RPC API as a client sees it: it starts the command rpcapi, reads its
// line, and speaks with it over its socket. Its client is made by hand from the description of the
// protocol, of generated stubs and the standard library, so that no mistake of the server can be in
// it, too.
//
// Scenarios are the rows of internal/conformance/rpc.txt; a subtest of a function TestRPC… has the
// number of its row, as in TestRPCSetup/S-03_second_handshake. testdata/protocol.txt has all
// messages of the protocol, one field a line.
//
// Rules:
//
//   - R1. The assertions of a test are in the description of the protocol. Where that leaves a
//     choice, such as the order of events or texts, tests do, too.
//   - R2. A process that a test has started ends with the test, and by itself: a panic in its log
//     fails the test.
package rpctest

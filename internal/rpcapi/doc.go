// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rpcapi serves the RPC API: the wire protocol that Terraform has for its stacks, by which
// other programs drive the runtime. The process is that of a plugin of
// github.com/hashicorp/go-plugin; the messages are those of package terraform1 below proto.
//
// The services are implemented in the packages below: dependencies and packages have sources and
// providers, stacks has operations. They share one table of handles. Conversions between the
// runtime's model and messages are in package wire.
//
// Rules:
//
//   - A1. Requests that nobody could carry out, such as one with an unknown handle, end with a
//     status, mostly InvalidArgument. A fault of a configuration, a provider or a registry is a
//     diagnostic in a response with status OK; the object that was to be opened has the handle 0
//     then.
//   - A2. No request ends the process. A panic is the status Internal of its call.
//   - A3. Nothing is printed. Logs have names and addresses, never values.
//   - A4. Events of one call are sent one after the other.
package rpcapi

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package servercmd has the commands that serve other programs: clients of the RPC API, and
// editors.
package servercmd

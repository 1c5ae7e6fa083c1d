// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package enginecmd has the commands that install and list engines.
package enginecmd

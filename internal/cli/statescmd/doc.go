// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package statescmd has the commands that read, compile and run SLS files.
package statescmd

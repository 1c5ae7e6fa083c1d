// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package statecmd has the commands that look at states, and change them by hand.
package statecmd

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cicmd has the commands that the scripts of the CI kit call for all that they decide.
package cicmd

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package workcopy

// descriptorsHaveNames reports that a process cannot open an inherited descriptor by name: the
// directory for that may be there without having all descriptors.
func descriptorsHaveNames() bool { return false }

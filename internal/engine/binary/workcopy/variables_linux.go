// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import "os"

// descriptorsHaveNames reports whether a process can open an inherited descriptor by name.
func descriptorsHaveNames() bool {
	_, err := os.Stat("/dev/fd")
	return err == nil
}

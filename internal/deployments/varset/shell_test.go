// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"runtime"
	"testing"
)

func needsShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the test runs shell scripts")
	}
}

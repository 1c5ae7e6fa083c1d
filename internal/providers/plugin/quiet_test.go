// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"slices"
	"testing"
)

func TestQuiet(t *testing.T) {
	given := []string{"A=b", "TF_LOG_SDK_PROTO=TRACE"}
	got := quiet(given, "ERROR")
	want := []string{"A=b", "TF_LOG_SDK_PROTO=TRACE", "TF_LOG_SDK=ERROR", "TF_LOG_SDK_FRAMEWORK=ERROR", "TF_LOG_SDK_HELPER_SCHEMA=ERROR"}
	if !slices.Equal(got, want) {
		t.Errorf("quiet(%q) = %q, want %q", given, got, want)
	}
}

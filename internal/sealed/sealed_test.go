// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sealed_test

import (
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// No bit of a file can change, and no byte be lost, without that being found.
func TestOpen(t *testing.T) {
	const kind = "test 1"
	for _, content := range []string{"", "{}", "several\nlines\n"} {
		file := sealed.Seal(kind, []byte(content))
		if got, whole := sealed.Open(kind, file); !whole || string(got) != content {
			t.Errorf("%q: got %q, %t", content, got, whole)
		}
		if _, whole := sealed.Open("test 2", file); whole {
			t.Errorf("%q: a file of another kind is believed", content)
		}
		for bit := range 8 * len(file) {
			damaged := slices.Clone(file)
			damaged[bit/8] ^= 1 << (bit % 8)
			if _, whole := sealed.Open(kind, damaged); whole {
				t.Errorf("%q: bit %d changed, and the file is believed", content, bit)
			}
		}
		for size := range file {
			if _, whole := sealed.Open(kind, file[:size]); whole {
				t.Errorf("%q: cut to %d bytes, and the file is believed", content, size)
			}
		}
	}
}

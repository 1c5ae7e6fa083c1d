// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package textstyle

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestShorten(t *testing.T) {
	for name, test := range map[string]struct {
		width           int
		addresses, want []string
	}{
		"the end stays": {
			20,
			[]string{`component.x`, `stack.region["eu-west-1"].component.database`},
			[]string{`component.x`, `….component.database`},
		},
		"what distinguishes stays": {
			20,
			[]string{`stack.eu.component.database`, `stack.us.component.database`, `stack.us.component.net`},
			[]string{`stack.e…ent.database`, `stack.u…ent.database`, `…ck.us.component.net`},
		},
		"like one that fits": {
			8,
			[]string{`…nt.x["a`, `component.x["a`},
			[]string{`…nt.x["a`, `c…t.x["a`},
		},
		"nothing distinguishes": {
			5,
			[]string{`component.aaaaaaaaXaaaaaa`, `component.aaaaaaaaYaaaaaa`},
			[]string{`…aaaa`, `…aaaa`},
		},
		"wide characters": {9, []string{`component.日本語`}, []string{`…t.日本語`}},
		"no room":         {0, []string{`component.x`}, []string{``}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Shorten(test.addresses, test.width)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			for _, text := range got {
				if ansi.StringWidth(text) > test.width {
					t.Errorf("%q is wider than %d", text, test.width)
				}
			}
		})
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The YAML output is read as the same by readers of YAML 1.1, as Salt has one, and of YAML 1.2.
func TestPrintedForOldReaders(t *testing.T) {
	values := []any{
		"12:30:45", "1:30", "=", "<<", "<<x", "1_000", "0o17", "1e3", "yes", "no way", "a\u2028b", "a\u2029b", "a\u0085b", "\ufeff",
		"2001-12-14", "~", "", "x: y", 1e20, 1.5e-7, 2.5, int64(12),
	}
	want := `- "12:30:45"
- "1:30"
- "="
- "<<"
- "<<x"
- "1_000"
- "0o17"
- "1e3"
- "yes"
- no way
- "a\Lb"
- "a\Pb"
- "a\Nb"
- "\uFEFF"
- "2001-12-14"
- "~"
- ""
- 'x: y'
- 1.0e+20
- 1.5e-07
- 2.5
- 12
`
	var b strings.Builder
	if err := WriteYAML(&b, values); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	d := decoder{file: "printed.yaml"}
	root, diags := parse(d.file, []byte(b.String()))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(any(values), d.value(root)); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

// Plain words are read as in YAML 1.1, which Salt's files are written in.
func TestPlainWords(t *testing.T) {
	tests := map[string]any{
		"1e3": "1e3", "7E2": "7E2", "1.5e3": "1.5e3", "0o644": "0o644", "0644": int64(644), "0x1F": int64(31), "1.5": 1.5,
		"1.0e+3": 1000.0, ".5": 0.5,
		"on": true, "Off": false, "12:30": "12:30", "1_000": int64(1000), "'1e3'": "1e3", "!!float 1e3": 1000.0, "1e3x": "1e3x",
	}
	for word, want := range tests {
		d := decoder{file: "a.sls"}
		root, diags := parse(d.file, []byte("a: "+word+"\n"))
		if len(diags) > 0 {
			t.Fatal(word, diags)
		}
		got := d.value(root).(*Map).Get("a")
		if diff := cmp.Diff(want, got); diff != "" || len(d.diags) > 0 {
			t.Errorf("%s (-want +got):\n%s%s", word, diff, d.diags)
		}
	}
}

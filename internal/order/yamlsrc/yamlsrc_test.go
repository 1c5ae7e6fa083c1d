// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package yamlsrc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefuses(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for name, test := range map[string]struct {
		src, summary string
	}{
		"syntax":        {"a: 1\nb: }\n", "Invalid YAML"},
		"bomb":          {bomb, "Too many aliases"},
		"circle":        {"a: &x\n  b: *x\n", "Alias of itself"},
		"two documents": {"a: 1\n---\nb: 1\n", "Several documents"},
		"size":          {strings.Repeat("#", MaxSize+1), "File too large"},
	} {
		t.Run(name, func(t *testing.T) {
			f, diags := Parse("f.yml", []byte(test.src))
			if len(diags) != 1 || f.Root != nil {
				t.Fatalf("got %v, want one problem and no root", diags)
			}
			if diags[0].Summary != test.summary {
				t.Errorf("got %s, want %s", diags[0].Summary, test.summary)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	src := "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\nall:\n  <<: [*base, *other]\n  a: ö\n  a: 5\n"
	f, diags := Parse("f.yml", []byte(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	top, diags := f.Entries(f.Root)
	if len(top) != 3 || diags.HasErrors() {
		t.Fatal(top, diags)
	}
	entries, diags := f.Entries(top[2].Value)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name+"="+entry.Value.Value)
	}
	if diff := cmp.Diff([]string{"a=ö", "b=2", "c=4"}, got); diff != "" {
		t.Error(diff)
	}
	if len(diags) != 1 || diags[0].Subject.Start.Line != 6 || diags[0].Subject.Start.Column != 3 {
		t.Errorf("got %v, want one problem at 6:3", diags)
	}
}

func TestRanges(t *testing.T) {
	src := "a: 'öab cd'\n"
	f, diags := Parse("f.yml", []byte(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	value := f.Root.Content[1]
	if got := string(f.Range(value).SliceBytes([]byte(src))); got != "'öab cd'" {
		t.Errorf("range is %s", got)
	}
	if got := string(f.Within(value, strings.Index(value.Value, "cd"), 2).SliceBytes([]byte(src))); got != "cd" {
		t.Errorf("part is %s", got)
	}
}

func TestEmpty(t *testing.T) {
	for _, src := range []string{"", "# nothing\n", "null\n", "---\n"} {
		if f, diags := Parse("f.yml", []byte(src)); f.Root != nil || len(diags) > 0 {
			t.Errorf("%q: %v %v", src, f.Root, diags)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: &x [1]\nb: *x\nc: {<<: {d: 1}}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := Parse("f.yml", src)
		for _, diag := range diags {
			if diag.Subject.Start.Byte > len(src) || diag.Subject.End.Byte > len(src) {
				t.Errorf("%s is outside of the file", diag.Subject)
			}
		}
		if file.Root != nil {
			file.Entries(file.Root) //nolint:errcheck // Must not fail, whatever the root is.
		}
	})
}

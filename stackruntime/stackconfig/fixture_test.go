// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

// The fixtures below testdata/invalid are stacks with mistakes. Each diagnostic
// is expected in place, by a comment on the line where its subject begins:
//
//	# want error "Summary" `source text of the subject`
//
// A file "want" beside the stack has those of JSON files and of whole files,
// each on a line of its own that begins with FILE:LINE.
func TestInvalidFixtures(t *testing.T) {
	dirs, err := os.ReadDir("testdata/invalid")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		t.Run(dir.Name(), func(t *testing.T) {
			root := filepath.Join("testdata/invalid", dir.Name())
			cfg, diags := Load(root)
			if cfg == nil {
				t.Fatalf("Load(%q) returned no configuration: %s", root, diags)
			}
			want := wantedDiagnostics(t, root)
			if len(want) == 0 {
				t.Error("the fixture expects no diagnostics")
			}
			if diff := cmp.Diff(want, gotDiagnostics(cfg, diags)); diff != "" {
				t.Errorf("Load(%q): wrong diagnostics (-want +got):\n%s\n%s", root, diff, details(diags))
			}
		})
	}
}

func TestValidFixtures(t *testing.T) {
	dirs, err := os.ReadDir("testdata/valid")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		t.Run(dir.Name(), func(t *testing.T) {
			cfg, diags := Load(filepath.Join("testdata/valid", dir.Name()))
			if len(diags) > 0 {
				t.Errorf("unexpected diagnostics:\n%s", details(diags))
			}
			if cfg == nil {
				t.Fatal("no configuration")
			}
			cfg.Walk(func(s *Stack) {
				if s.Incomplete {
					t.Errorf("%s is marked incomplete", s.Addr)
				}
				if got := cfg.Descendant(s.Addr); got != s {
					t.Errorf("Descendant(%s) is another stack", s.Addr)
				}
			})
		})
	}
}

var wantPattern = regexp.MustCompile("want (error|warning) (\"[^\"]*\") `([^`]*)`")

// wantedDiagnostics reads the expectations of all files of a fixture. Files
// outside the stack directory are named as diagnostics name them.
func wantedDiagnostics(t *testing.T, root string) []string {
	t.Helper()
	var want []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(src), "\n") {
			place := fmt.Sprintf("%s:%d", filepath.ToSlash(name), i+1)
			if name == "want" {
				place, _, _ = strings.Cut(line, " ")
			}
			for _, m := range wantPattern.FindAllStringSubmatch(line, -1) {
				want = append(want, expectation(place, m[1], m[2], m[3]))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	return want
}

func expectation(place, severity, summary, text string) string {
	return fmt.Sprintf("%s: %s %s `%s`", place, severity, summary, text)
}

func gotDiagnostics(cfg *Config, diags hcl.Diagnostics) []string {
	var got []string
	for _, diag := range diags {
		severity := map[hcl.DiagnosticSeverity]string{hcl.DiagError: "error", hcl.DiagWarning: "warning"}[diag.Severity]
		place, text := "-", ""
		if s := diag.Subject; s != nil {
			place = fmt.Sprintf("%s:%d", s.Filename, s.Start.Line)
			if file := cfg.Files[s.Filename]; file != nil {
				text = string(file.Bytes[s.Start.Byte:s.End.Byte])
			}
		}
		text, _, _ = strings.Cut(text, "\n")
		got = append(got, expectation(place, severity, strconv.Quote(diag.Summary), text))
	}
	slices.Sort(got)
	return got
}

func details(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, diag := range diags {
		fmt.Fprintf(&b, "%s: %s: %s\n", diag.Subject, diag.Summary, diag.Detail)
	}
	return b.String()
}

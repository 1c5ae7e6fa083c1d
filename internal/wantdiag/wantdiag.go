// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package wantdiag compares diagnostics with those that a fixture expects.
//
// A fixture is a directory with configuration in which each diagnostic is
// expected in place, by a comment on the line where its subject begins:
//
//	# want error "Summary" `source text of the subject`
//
// A file named "want" in the directory has those of files without comments and
// those without a place, each on a line of its own that begins with FILE:LINE or -.
// Of a subject that spans several lines only the first counts.
package wantdiag

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

var pattern = regexp.MustCompile("want (error|warning) (\"[^\"]*\") `([^`]*)`")

// Expected returns the expectations of all files below root, sorted.
func Expected(root string) ([]string, error) {
	var want []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
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
			for _, m := range pattern.FindAllStringSubmatch(line, -1) {
				want = append(want, expectation(place, m[1], m[2], m[3]))
			}
		}
		return nil
	})
	slices.Sort(want)
	return want, err
}

// Found describes diagnostics in the form of [Expected], sorted. source returns
// the content of a file by its name in diagnostics, or nil.
func Found(diags hcl.Diagnostics, source func(filename string) []byte) []string {
	found := make([]string, 0, len(diags))
	for _, diag := range diags {
		severity := "error"
		if diag.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		place, text := "-", ""
		if s := diag.Subject; s != nil {
			place = fmt.Sprintf("%s:%d", s.Filename, s.Start.Line)
			if src := source(s.Filename); s.CanSliceBytes(src) {
				text = string(s.SliceBytes(src))
			}
		}
		text, _, _ = strings.Cut(text, "\n")
		found = append(found, expectation(place, severity, strconv.Quote(diag.Summary), text))
	}
	slices.Sort(found)
	return found
}

// SourceOf returns the texts of files by their names, as [Found] takes them.
func SourceOf(files map[string]*hcl.File) func(filename string) []byte {
	return func(filename string) []byte {
		if file := files[filename]; file != nil {
			return file.Bytes
		}
		return nil
	}
}

// Details are diagnostics in full, one a line, for the message of a test that has failed.
func Details(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, diag := range diags {
		fmt.Fprintf(&b, "%s: %s: %s\n", diag.Subject, diag.Summary, diag.Detail)
	}
	return b.String()
}

func expectation(place, severity, summary, text string) string {
	return fmt.Sprintf("%s: %s %s `%s`", place, severity, summary, text)
}

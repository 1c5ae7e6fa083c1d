// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnstacks/cairn/internal/states/slstest"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// BenchmarkCompile reads and orders states with five requisites each; all are required by the one
// with the first number.
func BenchmarkCompile(b *testing.B) {
	for _, states := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(states), func(b *testing.B) {
			files, names := slstest.Many(states, 5)
			testenv.Measure(b, states, func() {
				high, diags := Load(files, names, LoadOptions{})
				low, moreDiags := Compile(high, CompileOptions{})
				if len(diags)+len(moreDiags) > 0 {
					b.Fatal(diags, moreDiags)
				}
				if got := len(low.Sequence()); got != states+1 {
					b.Fatalf("%d calls", got)
				}
			})
		})
	}
}

// FuzzCompile checks that problems lie within the file, that there is no low data with errors, and
// that the YAML output reads as the same data.
func FuzzCompile(f *testing.F) {
	f.Add([]byte(x1))
	for _, test := range errorTests {
		if !strings.Contains(test.archive, "\n-- ") {
			f.Add([]byte(test.archive))
		}
	}
	f.Add([]byte("a: &x {m.f: [{names: [b, {c: [{d: 1.50}]}]}, {order: -1.5}]}\n<<: *x\nb: {m: [g, {prereq_in: ['?']}]}\n" +
		"extend: {a: {m: [{use: [b]}]}}\n"))
	f.Add([]byte("a: {m.f: [{parallel: true}, {retry: {attempts: 3, splay: 1.5}}]}\nb: {m.f: [{parallel: true}, {require: [a]}]}\n" +
		"c: {m.f: [{prereq: [b]}]}\nd: {m.f: [{parallel: true}]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		files := fstest.MapFS{"f.sls": &fstest.MapFile{Data: src}}
		high, diags := Load(files, []string{"f"}, LoadOptions{})
		var low *Low
		if !diags.HasErrors() {
			low, diags = Compile(high, CompileOptions{})
			if (low == nil) != diags.HasErrors() {
				t.Fatalf("low data %v and problems %v", low, diags)
			}
		}
		lines := bytes.Count(src, []byte("\n")) + 1 + bytes.Count(src, []byte("\r")) + bytes.Count(src, []byte("\u0085")) +
			bytes.Count(src, []byte("\u2028")) + bytes.Count(src, []byte("\u2029"))
		for _, diag := range diags {
			if diag.Subject != nil && diag.Subject.Start.Line > lines+1 {
				t.Errorf("line %d of %d: %s", diag.Subject.Start.Line, lines, diag.Detail)
			}
		}
		if low == nil {
			return
		}
		var json, printed, again bytes.Buffer
		if err := WriteJSON(&json, low.Value()); err != nil {
			t.Fatal(err)
		}
		if err := WriteYAML(&printed, low.Value()); err != nil {
			t.Fatal(err)
		}
		d := decoder{file: "printed.yaml"}
		root, problems := parse(d.file, printed.Bytes())
		if problems.HasErrors() {
			t.Fatalf("%v\n%s", problems, &printed)
		}
		if err := WriteJSON(&again, d.value(root)); err != nil {
			t.Fatal(err)
		}
		if json.String() != again.String() {
			t.Errorf("as JSON:\n%s\nprinted as YAML and read again:\n%s\n%s", &json, &again, &printed)
		}
	})
}

// Thousands of patterns, each for thousands of calls, are an error, found in seconds.
func TestRequisitesOfTooMuch(t *testing.T) {
	files, names := fstest.MapFS{}, []string{}
	for part := range 5 {
		var b strings.Builder
		for i := part * 300; i < (part+1)*300; i++ {
			fmt.Fprintf(&b, "t%d: {m.f: []}\ns%[1]d: {m.f: [{require: [{m: \"t*\"}]}]}\n", i)
		}
		name := fmt.Sprintf("f%d", part)
		files[name+".sls"], names = &fstest.MapFile{Data: []byte(b.String())}, append(names, name)
	}
	high, diags := Load(files, names, LoadOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, diags = Compile(high, CompileOptions{})
	if want := "Too many calls required"; len(diags) != 1 || diags[0].Summary != want {
		t.Errorf("%v, want %s", diags, want)
	}
}

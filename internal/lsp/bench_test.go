// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// wideStack writes a stack of many components, each with a module of its own, and returns its
// directory. Files have as many as they are to have.
func wideStack(t testing.TB, components, inFile int) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("variable \"region\" {\n  type = string\n}\n")
	for i := range components {
		previous := "var.region"
		if i > 0 {
			previous = fmt.Sprintf("component.c%d.id", i-1)
		}
		fmt.Fprintf(&text, "component \"c%d\" {\n  source = \"./modules/m%d\"\n  inputs = {\n    name = \"é-${var.region}\"\n"+
			"    previous = %s\n  }\n}\n", i, i, previous)
		put(t, filepath.Join(dir, fmt.Sprintf("modules/m%d/main.tf", i)),
			"variable \"name\" {\n  type = string\n}\nvariable \"previous\" {\n  type = string\n}\noutput \"id\" {\n  value = var.name\n}\n"+
				"resource \"terraform_data\" \"x\" {\n  input = var.previous\n}\n")
		if (i+1)%inFile == 0 {
			put(t, filepath.Join(dir, fmt.Sprintf("part%d.tfcomponent.hcl", i/inFile)), text.String())
			text.Reset()
		}
	}
	return dir
}

// BenchmarkDiagnosticsAfterKeystroke measures the time from a keystroke to the diagnostics that
// follow from it, without the time in which the server waits for another keystroke. All components
// are in one file, and each has a module of its own.
func BenchmarkDiagnosticsAfterKeystroke(b *testing.B) {
	for _, components := range []int{200, 2_000, 10_000} {
		b.Run(strconv.Itoa(components), func(b *testing.B) {
			e := openIn(b, wideStack(b, components, components))
			e.open("part0.tfcomponent.hcl")
			e.checked("part0.tfcomponent.hcl")
			at := e.in("part0.tfcomponent.hcl", fmt.Sprintf("previous = component.c%d.i|d", components/2)).Position
			wrong := false
			for b.Loop() {
				if wrong = !wrong; wrong {
					e.edit("part0.tfcomponent.hcl", protocol.Range{Start: at, End: at}, "x")
				} else {
					end := at
					end.Character++
					e.edit("part0.tfcomponent.hcl", protocol.Range{Start: at, End: end}, "")
				}
				e.until(func() string {
					if (len(e.shown("part0.tfcomponent.hcl")) > 0) == wrong {
						return ""
					}
					return "not yet"
				}, "diagnostics")
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)-float64(testQuiet.Milliseconds()), "ms/keystroke")
		})
	}
}

func BenchmarkCompletionAfterKeystroke(b *testing.B) {
	e := openIn(b, wideStack(b, 300, 100))
	e.open("part1.tfcomponent.hcl")
	e.want("part1.tfcomponent.hcl")
	at := e.in("part1.tfcomponent.hcl", "previous = component.c149.|id").Position
	for b.Loop() {
		e.edit("part1.tfcomponent.hcl", protocol.Range{Start: at, End: at}, " ")
		result, err := e.Completion(b.Context(), &protocol.CompletionParams{
			TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: e.document("part1.tfcomponent.hcl"), Position: at},
		})
		e.check(err)
		if len(result.(*protocol.CompletionList).Items) == 0 {
			b.Fatal("nothing is completed")
		}
	}
}

// Memory does not grow with the number of edits.
func TestManyEdits(t *testing.T) {
	edits := 10_000
	if testing.Short() {
		edits = 1000
	}
	e := open(t, shop)
	e.open(mainFile)
	at := e.in(mainFile, "var.region|").Position
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	edit := func(n int) {
		for i := range n {
			end := at
			if i%2 == 1 {
				end.Character++
			}
			e.edit(mainFile, protocol.Range{Start: at, End: end}, []string{"x", ""}[i%2])
			if i%50 == 0 {
				_, err := e.Completion(t.Context(), &protocol.CompletionParams{
					TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: e.document(mainFile), Position: at},
				})
				e.check(err)
			}
			if i%500 == 0 {
				e.want(mainFile, "3:16 Unknown variable")
			}
		}
		_, err := e.Hover(t.Context(), &protocol.HoverParams{
			TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: e.document(mainFile)},
		})
		e.check(err) // all edits have arrived
	}
	edit(edits / 10)
	before := heap()
	edit(edits)
	after := heap()
	t.Logf("the heap has %d KB after %d edits, and %d KB after %d more", before>>10, edits/10, after>>10, edits)
	if after > before+before/2+4<<20 {
		t.Errorf("the heap has grown from %d KB to %d KB", before>>10, after>>10)
	}
	e.want(mainFile)
}

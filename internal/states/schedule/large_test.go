// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/slstest"
)

// TestRunFollowsSequence makes many calls, none of which fails: each once, after its requirements,
// in the order of the sequence.
func TestRunFollowsSequence(t *testing.T) {
	files, names := slstest.Many(2000, 4)
	high, diags := compile.Load(files, names, compile.LoadOptions{})
	low, moreDiags := compile.Compile(high, compile.CompileOptions{})
	if len(diags)+len(moreDiags) > 0 {
		t.Fatal(diags, moreDiags)
	}
	f := &fake{}
	Run(t.Context(), low, Options{Functions: f})
	var made []string
	for _, step := range low.Steps() {
		if id, ok := strings.CutSuffix(step, " (m.f) is made"); ok {
			made = append(made, id)
		}
	}
	if !slices.Equal(f.log, made) {
		t.Error("the calls were not made in the order of the steps")
	}
	var want []string
	at := map[int]int{}
	for i, n := range low.Sequence() {
		at[n] = i
		want = append(want, low.Calls[n].ID)
	}
	if !slices.Equal(f.log, want) {
		t.Error("the calls were not made in the order of the sequence")
	}
	for n := range low.Calls {
		for _, target := range low.Requisites(n, compile.Require) {
			if at[target] >= at[n] {
				t.Fatalf("%s is not after %s", low.Calls[n], low.Calls[target])
			}
		}
	}
}

// FuzzRun checks that runs in parallel have the same results.
func FuzzRun(f *testing.F) {
	f.Add([]byte("a: {m.f: [{names: [b, {c: [{d: 1.50}]}]}, {order: -1.5}]}\nb: {m: [g, {prereq_in: ['?']}]}\n" +
		"extend: {a: {m: [{use: [b]}]}}\n"))
	f.Add([]byte("a: {m.f: [{parallel: true}, {retry: {attempts: 3, splay: 1.5}}]}\nb: {m.f: [{parallel: true}, {require: [a]}]}\n" +
		"c: {m.f: [{prereq: [b]}]}\nd: {m.f: [{parallel: true}]}\n"))
	f.Add([]byte("a: {m.changes: [{parallel: true}]}\nb: {m.f: [{watch: [a]}, {listen: [c]}]}\n" +
		"c: {m.f: [{onchanges: [a]}, {parallel: true}]}\nd: {m.f: [{onfail: ['*']}]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		high, diags := compile.Load(fstest.MapFS{"f.sls": &fstest.MapFile{Data: src}}, []string{"f"}, compile.LoadOptions{})
		if diags.HasErrors() {
			return
		}
		low, _ := compile.Compile(high, compile.CompileOptions{})
		if low == nil {
			return
		}
		for _, call := range low.Calls {
			call.Retry = compile.Retry{} // nobody waits here
		}
		Run(t.Context(), low, Options{Functions: &fake{}})
		alone, alongside := Run(t.Context(), low, Options{Functions: idle{}}), Run(t.Context(), low, Options{Functions: idle{}, Parallel: 3})
		for i := range alone {
			if alone[i].Call != alongside[i].Call || alone[i].Status != alongside[i].Status {
				t.Fatalf("result %d is %v, in parallel %v", i, alone[i], alongside[i])
			}
		}
	})
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/stackgen"
)

// Rule G1.
func TestEqualOptionsGiveEqualStacks(t *testing.T) {
	different := map[string]bool{}
	for seed := range uint64(20) {
		opts := stackgen.Options{Seed: seed, Providers: seed%2 == 0}
		first, again := stackgen.Generate(opts), stackgen.Generate(opts)
		if first.First.String() != again.First.String() || first.Second.String() != again.Second.String() {
			t.Errorf("seed %d gives different stacks", seed)
		}
		different[first.First.String()] = true
	}
	if len(different) != 20 {
		t.Errorf("20 seeds give %d different stacks", len(different))
	}
}

// The subjects of the checks are in some of the stacks, in the second version.
func TestStacksHaveRemovedBlocksOfAllKinds(t *testing.T) {
	kinds := map[string]*regexp.Regexp{
		"of a component":              regexp.MustCompile(`removed \{\s+from\s+= component\.\w+\n`),
		"of one instance":             regexp.MustCompile(`removed \{\s+from\s+= component\.\w+\["`),
		"of all instances":            regexp.MustCompile(`removed \{\s+from\s+= component\.\w+\[each\.key\]`),
		"of a stack":                  regexp.MustCompile(`removed \{\s+from\s+= stack\.\w+\n`),
		"of all instances of a stack": regexp.MustCompile(`removed \{\s+from\s+= stack\.\w+\[each\.key\]\n`),
		"of a component in a stack":   regexp.MustCompile(`removed \{\s+from\s+= stack\.\w+\.component\.`),
		"in all instances of a stack": regexp.MustCompile(`removed \{\s+from\s+= stack\.\w+\[each\.key\]\.component\.`),
		"with unknown instances": regexp.MustCompile(`removed \{\s+from\s+= component\.\w+\[each\.key\]\s+source\s+= ` +
			`"[^"]*"\s+for_each\s+= [^\n]*component\.`),
		"with unknown instances of a stack": regexp.MustCompile(`removed \{\s+from\s+= stack\.\w+\[each\.key\]\s+source\s+= ` +
			`"[^"]*"\s+for_each\s+= [^\n]*component\.`),
		"that only forgets": regexp.MustCompile(`lifecycle \{\s+destroy\s+= false`),
	}
	for seed := uint64(1); seed <= 300 && len(kinds) > 0; seed++ {
		text := stackgen.Generate(stackgen.Options{Seed: seed, Components: 12}).Second.String()
		maps.DeleteFunc(kinds, func(_ string, is *regexp.Regexp) bool { return is.MatchString(text) })
	}
	for _, missing := range slices.Sorted(maps.Keys(kinds)) {
		t.Errorf("no stack of 300 has a removed block %s", missing)
	}
}

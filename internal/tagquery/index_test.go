// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// An index finds the same subjects as a search of all.
func TestIndexFindsWhatMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	subjects := make([]Subject, 60)
	for i := range subjects {
		dir := fmt.Sprintf("%c/%c", 'a'+rune(random.IntN(3)), 'a'+rune(random.IntN(3)))
		subjects[i] = Subject{Dir: dir, Tags: map[string]bool{"dir:" + dir: true}}
		for range random.IntN(4) {
			subjects[i].Tags[fmt.Sprintf("t%d", random.IntN(5))] = true
		}
	}
	index := NewIndex(subjects)
	for _, text := range []string{
		"", "t1", "unknown", "t1 and t2", "t1 or t2 or t1", "not t1", "t1 and not t2", "not t1 or t2", "dir:a/b", "dir:a/b or t3", "b in dir",
		"t1 and b in dir", "t1 or b in dir", "dir~a and (t0 or t4)", "relative_dir:b",
	} {
		query, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		query = query.At("a")
		var want []int
		for i, subject := range subjects {
			if query.Match(subject) {
				want = append(want, i)
			}
		}
		if got := index.Matches(query); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// Of tags that are all needed, those are looked at that the fewest have.
func TestIndexTakesTheRarestTags(t *testing.T) {
	cost := map[string]int{"all": 1000, "some": 100, "few": 10, "rare": 1}
	for text, want := range map[string][]string{
		"all and few":                   {"few"},
		"few and all":                   {"few"},
		"all and (few or rare)":         {"few", "rare"},
		"some and (all or few) and new": {"new"},
	} {
		q, err := Parse(text)
		if got, ok := q.AnyOf(func(tag string) int { return cost[tag] }); err != nil || !ok || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %t, want %v (%v)", text, got, ok, want, err)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseNameStatus(t *testing.T) {
	got := parseNameStatus("M\x00a\x00R087\x00b\x00c\x00A\x00d\x00C100\x00a\x00e\x00D\x00f\x00")
	want := []File{{Path: "a"}, {Path: "c", From: "b"}, {Path: "d", Added: true}, {Path: "e"}, {Path: "f", Deleted: true}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPathIndex(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		path := func() string {
			return strings.Join([]string{"a", "ab", "b", "a-", "a.b"}[:1+random.IntN(2)], "/") + "/" +
				[]string{"a", "ab", "b/c", "b"}[random.IntN(4)]
		}
		var files []File
		for range random.IntN(20) {
			file := File{Path: path()}
			if random.IntN(3) == 0 {
				file.From = path()
			}
			files = append(files, file)
		}
		index := newPathIndex(files)
		for _, dir := range []string{".", "a", "a/ab", "a/b", "ab", "c"} {
			var want []place
			for i, file := range files {
				below := func(path string) bool { return dir == "." || strings.HasPrefix(path, dir+"/") }
				if below(file.Path) {
					want = append(want, place{path: file.Path, file: i})
				} else if file.From != "" && below(file.From) {
					want = append(want, place{path: file.From, file: i, from: true})
				}
			}
			if diff := cmp.Diff(want, inOrder(index.below(dir)), cmp.AllowUnexported(place{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("seed %d: below %s (-want +got):\n%s", seed, dir, diff)
			}
		}
	}
}

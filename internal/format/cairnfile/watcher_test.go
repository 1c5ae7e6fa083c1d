// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Searching by the prefixes of paths finds the same file as matching each file.
func TestWatcherFindsTheFirstFile(t *testing.T) {
	paths := []string{"s/a.tf", "s/b.tf", "s/test.tf", "s/x/a.tf", "docs", "docs/a", "docs2/a", "shared/x/y", "v.tfvars", "a*b", "axb"}
	patterns := []string{"docs", "shared/**", ".", "*", "**/a.tf", "s/?.tf", "{docs,v}*", "nothing"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		some := func(from []string, most int) []string {
			random.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
			return from[:random.IntN(most+1)]
		}
		quoted := func(list []string) string { return `["` + strings.Join(list, `", "`) + `"]` }
		src := "stack \"s\" {\n  kind = \"terraform\"\n"
		if watch := some(patterns, 2); len(watch) > 0 {
			src += fmt.Sprintf("  watch = %s\n", quoted(watch))
		}
		if random.IntN(2) == 0 {
			src += "  files = [\"*.tf\", \"!test.tf\"]\n"
		}
		if random.IntN(2) == 0 {
			src += "  var_files = [\"v.tfvars\"]\n"
		}
		m := resolve(t, src+"}\n")
		w := m.Leaves[0].Stack.watcher()
		files := slices.Sorted(slices.Values(some(paths, len(paths))))
		want := ""
		for _, file := range files {
			if want = w.watches(file); want != "" {
				break
			}
		}
		if got := w.first(files); got != want {
			t.Errorf("%s%v: got %q, want %q", src, files, got, want)
		}
	}
}

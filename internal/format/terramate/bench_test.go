// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// manyStacks makes a tree of stacks, a hundred in a directory and a hundred of each tag. Each is
// after three before it, one in ten also after a tag or a directory that is behind.
func manyStacks(tb testing.TB, stacks int) string {
	tb.Helper()
	root := tb.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range stacks {
		var after []string
		for range min(i, 3) {
			other := random.IntN(i)
			after = append(after, fmt.Sprintf("%q", fmt.Sprintf("/d%03d/s%02d", other/100, other%100)))
		}
		if group := i / 100; group > 0 && i%10 == 0 {
			after = append(after, fmt.Sprintf("%q", fmt.Sprintf("tag:t%d", random.IntN(group))),
				fmt.Sprintf("%q", fmt.Sprintf("/d%03d", random.IntN(group))))
		}
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i/100), fmt.Sprintf("s%02d", i%100))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		text := fmt.Sprintf("stack {\n  tags  = [\"t%d\"]\n  after = [%s]\n}\n", i/100, strings.Join(after, ", "))
		if err := os.WriteFile(filepath.Join(dir, "stack.tm.hcl"), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

// BenchmarkLoad reads stacks from disk and puts them in order.
func BenchmarkLoad(b *testing.B) {
	for _, stacks := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(stacks), func(b *testing.B) {
			root := manyStacks(b, stacks)
			testenv.Measure(b, stacks, func() {
				tree, diags := Load(root)
				g, moreDiags := tree.Graph()
				if len(diags)+len(moreDiags) > 0 {
					b.Fatal(diags, moreDiags)
				}
				if got := len(g.Sequence(order.ByQueue, nil)); got != stacks {
					b.Fatalf("%d stacks, want %d", got, stacks)
				}
			})
		})
	}
}

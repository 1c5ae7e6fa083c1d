// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// manyBlocks makes a file in which each stack is after three before it, and one block in a hundred
// is a group.
func manyBlocks(blocks int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for i := range blocks {
		if i%100 == 99 {
			var members []string
			for n := i - 99; n < i; n++ {
				members = append(members, fmt.Sprintf("%q", fmt.Sprintf("s%d", n)))
			}
			fmt.Fprintf(&text, "group \"g%d\" {\n  members = [%s]\n  tags    = [\"t%d\"]\n", i/100, strings.Join(members, ", "), i/100)
			if i > 100 {
				fmt.Fprintf(&text, "  plan_after = [\"g%d\"]\n", i/100-1)
			}
			text.WriteString("}\n")
			continue
		}
		var after []string
		for range 3 {
			if n := i/100*100 + random.IntN(i%100+1); n < i {
				after = append(after, fmt.Sprintf("%q", fmt.Sprintf("s%d", n)))
			}
		}
		fmt.Fprintf(&text, "stack \"s%d\" {\n  kind  = \"terraform\"\n  after = [%s]\n}\n", i, strings.Join(after, ", "))
	}
	return text.String()
}

// BenchmarkParse parses a file and puts its blocks in order.
func BenchmarkParse(b *testing.B) {
	for _, blocks := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(blocks), func(b *testing.B) {
			src := []byte(manyBlocks(blocks))
			testenv.Measure(b, blocks, func() {
				w, diags := Parse(FileName, src)
				m, moreDiags := Resolve(w)
				if diags = diags.Extend(moreDiags); len(diags) > 0 {
					b.Fatal(diags[:min(len(diags), 3)])
				}
				g, diags := m.Graph(false)
				if len(diags) > 0 {
					b.Fatal(diags[:min(len(diags), 3)])
				}
				if got, want := len(g.Sequence(order.ByWeight, nil)), blocks-blocks/100; got != want {
					b.Fatalf("%d nodes, want %d", got, want)
				}
			})
		})
	}
}

// BenchmarkReferences resolves references by tags, globs, paths and regular expressions, one of
// each stack to ten others.
func BenchmarkReferences(b *testing.B) {
	for _, stacks := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(stacks), func(b *testing.B) {
			var text strings.Builder
			for i := range stacks {
				ten := i / 10
				fmt.Fprintf(&text, "stack \"s-%d-%d\" {\n  kind = \"terraform\"\n  path = \"d%[1]d/s%[2]d\"\n  tags = [\"all\", \"t%[1]d\"]\n", ten, i)
				if before := ten - 1; before >= 0 {
					reference := []string{"tag:all and t%d", "s-%d-*", "./d%d/*", "./d%d", "/^s-%d-/"}[i%5]
					fmt.Fprintf(&text, "  after = [%q]\n", fmt.Sprintf(reference, before))
				}
				text.WriteString("}\n")
			}
			w, diags := Parse(FileName, []byte(text.String()))
			if len(diags) > 0 {
				b.Fatal(diags)
			}
			testenv.Measure(b, stacks, func() {
				m, diags := Resolve(w)
				if len(diags) > 0 {
					b.Fatal(diags)
				}
				if got := len(m.rules[len(m.rules)-1].targets); got != 10 {
					b.Fatalf("%d targets, want 10", got)
				}
			})
		})
	}
}

// BenchmarkChanged finds the changed stacks if a file of each stack has changed: half of the stacks
// by their directories, the others by patterns.
func BenchmarkChanged(b *testing.B) {
	for _, stacks := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(stacks), func(b *testing.B) {
			var text strings.Builder
			var files []string
			for i := range stacks {
				fmt.Fprintf(&text, "stack \"s%d\" {\n  kind  = \"terraform\"\n  watch = [\"shared/%d/**\", \"docs/%d\"]\n", i, i, i)
				if i%2 == 0 {
					text.WriteString("  files = [\"*.tf\", \"!test.tf\"]\n")
				}
				text.WriteString("}\n")
				files = append(files, fmt.Sprintf("s%d/main.tf", i))
			}
			m := resolve(b, text.String())
			testenv.Measure(b, stacks, func() {
				if got := len(changedBy(b, m, files...).Reasons); got != stacks {
					b.Fatalf("%d stacks have changed, want %d", got, stacks)
				}
			})
		})
	}
}

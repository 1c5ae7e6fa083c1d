// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// BenchmarkLoad reads a repository with a hundred directories for each of its stacks, of which each
// is modified by and planned after the one before, and works out the effects of a change in one
// directory, or in all. The directories are configured by patterns or each by its name.
func BenchmarkLoad(b *testing.B) {
	for _, configured := range []string{"patterns", "names"} {
		for _, dirs := range []int{100, 1_000, 10_000} {
			root, files := manyDirectories(b, dirs, configured == "names")
			for i, some := range [][]string{files[:1], files} {
				b.Run(fmt.Sprintf("%s/%s changed/%d", configured, []string{"1", "all"}[i], dirs), func(b *testing.B) {
					testenv.Measure(b, dirs, func() {
						l, diags, err := Load(root)
						if err != nil || len(diags) > 0 {
							b.Fatal(err, diags)
						}
						change := l.Change(l.ByFiles(some), ChangeOptions{})
						if got, want := len(work(change).Batches()), 2*(dirs/100); got != want {
							b.Fatalf("%d steps, want %d", got, want)
						}
					})
				})
			}
		}
	}
}

func manyDirectories(tb testing.TB, dirs int, named bool) (root string, files []string) {
	tb.Helper()
	root = tb.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	var names, tags strings.Builder
	for i := range dirs {
		if layer := i / 100; i%100 == 0 {
			fmt.Fprintf(&names, "    s%d: {tag_query: l%d", layer, layer)
			if layer > 0 {
				fmt.Fprintf(&names, ", rules: {modified_by: [s%d]}", layer-1)
			}
			names.WriteString("}\n")
			if !named {
				fmt.Fprintf(&tags, "  l%03d/**: {tags: [l%d]}\n", layer, layer)
			}
		}
		dir := fmt.Sprintf("l%03d/d%02d", i/100, i%100)
		if named {
			fmt.Fprintf(&tags, "  %s: {tags: [l%d]}\n", dir, i/100)
		}
		files = append(files, dir+"/main.tf")
		write(dir+"/main.tf", "")
	}
	write(ConfigFile, "stacks:\n  names:\n"+names.String()+"dirs:\n"+tags.String())
	return root, files
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// However much has changed, git is started as often.
func TestProcessesDoNotGrowWithChanges(t *testing.T) {
	count := func(stacks int) int {
		var files []string
		for i := range 3 * stacks {
			files = append(files, fmt.Sprintf("s%02d/s.tm", i), fmt.Sprintf("stack {\n  name = \"stack number %d of them all\"\n}\n", i),
				fmt.Sprintf("s%02d/main.tf", i), "")
		}
		w := begin(t, files...)
		for i := range stacks {
			w.git("rm", "-q", "-r", fmt.Sprintf("s%02d", i))
			w.git("mv", fmt.Sprintf("s%02d", stacks+i), fmt.Sprintf("t%02d", i))
			w.write(fmt.Sprintf("s%02d/main.tf", 2*stacks+i), "# changed\n")
		}
		w.commit()
		log := filepath.Join(t.TempDir(), "trace")
		t.Setenv("GIT_TRACE", log)
		_, found := w.stacks("", "")
		t.Setenv("GIT_TRACE", "")
		if got := len(found.Gone); got != 2*stacks {
			t.Errorf("%d stacks are gone, want %d", got, 2*stacks)
		}
		if renamed := slices.DeleteFunc(found.Gone, func(g gitdiff.Gone) bool { return g.RenamedTo == "" }); len(renamed) != stacks {
			t.Errorf("%d stacks are renamed, want %d", len(renamed), stacks)
		}
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(trace), "trace: built-in: git ")
	}
	if few, many := count(1), count(20); few != many || few == 0 {
		t.Errorf("%d processes for one stack of each kind, %d for twenty", few, many)
	}
}

// The content of a name in a commit is read as it is, for any name and content.
func TestContents(t *testing.T) {
	large := strings.Repeat("x", 100)
	w := begin(t, "empty", "", "lines", "1 blob 2\n\n3", "with space", "a", "large", large, "dir/file", "b")
	repository, err := gitdiff.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := repository.Diff(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	found, err := diff.ContentsBefore(t.Context(),
		[]string{"lines", "missing", "large", "dir", "empty", "new\nline", "with space", "dir/file"}, 99)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, src := range found {
		got[name] = string(src)
	}
	want := map[string]string{"lines": "1 blob 2\n\n3", "empty": "", "with space": "a", "dir/file": "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
}

// BenchmarkStacks finds the stacks that have changed if a file in each of them has. Each uses one
// of a hundred modules.
func BenchmarkStacks(b *testing.B) {
	for _, stacks := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(stacks), func(b *testing.B) {
			root, err := filepath.EvalSymlinks(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			var files []gitdiff.File
			write := func(name, text string) {
				name = filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for i := range stacks {
				dir := fmt.Sprintf("d%03d/s%02d", i/100, i%100)
				write(dir+"/stack.tm.hcl", "stack {\n  watch = [\"/modules/m0/README.md\"]\n}\n")
				write(dir+"/main.tf", fmt.Sprintf("module \"m\" {\n  source = \"../../modules/m%d\"\n}\n", i%100))
				files = append(files, gitdiff.File{Path: dir + "/main.tf"})
			}
			for i := range 100 {
				write(fmt.Sprintf("modules/m%d/main.tf", i), "")
			}
			files = append(files, gitdiff.File{Path: "modules/m0/main.tf"})
			diff, err := gitdiff.DiffOf(root, files...)
			if err != nil {
				b.Fatal(err)
			}
			tree, diags := terramate.Load(root)
			if diags.HasErrors() {
				b.Fatal(diags)
			}
			testenv.Measure(b, stacks, func() {
				found, err := tree.Changes(b.Context(), diff)
				if err != nil {
					b.Fatal(err)
				}
				if got := len(found.Reasons); got != stacks {
					b.Fatalf("%d stacks have changed, want %d", got, stacks)
				}
			})
		})
	}
}

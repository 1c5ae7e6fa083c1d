// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// work is a repository with its files.
type work struct {
	*testing.T
	dir string
}

func newWork(t *testing.T) work {
	t.Helper()
	testenv.Git(t)
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.test",
		"GIT_COMMITTER_NAME": "T", "GIT_COMMITTER_EMAIL": "t@example.test", "GIT_CEILING_DIRECTORIES": filepath.Dir(home),
	} {
		t.Setenv(name, value)
	}
	return work{t, t.TempDir()}
}

func (w work) git(args ...string) {
	w.Helper()
	cmd := testenv.Command(w.T, "git", append([]string{"-C", w.dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// write writes files, name and content by turns.
func (w work) write(files ...string) {
	w.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(w.dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

func (w work) commit(files ...string) {
	w.Helper()
	w.write(files...)
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", "x")
}

// begin makes a repository with a first commit on main, and a branch of it.
func begin(t *testing.T, files ...string) work {
	t.Helper()
	w := newWork(t)
	w.git("init", "-q", "-b", "main")
	w.commit(files...)
	w.git("checkout", "-q", "-b", "work")
	return w
}

// changed returns the stacks of the tree in a directory that have changed, with the kinds and files
// of the reasons.
func (w work) changed(dir, base string) []string {
	w.Helper()
	tree, stacks := w.stacks(dir, base)
	var list []string
	for i, stack := range tree.Stacks {
		for _, reason := range stacks.Reasons[i] {
			list = append(list, fmt.Sprintf("%s %s %s", stack.Path, reason.Kind, reason.File))
		}
	}
	for _, gone := range stacks.Gone {
		list = append(list, strings.TrimSpace("gone "+gone.Path+" "+gone.RenamedTo))
	}
	return list
}

func (w work) stacks(dir, base string) (*terramate.Tree, *terramate.Changes) {
	w.Helper()
	tree, diags := terramate.Load(filepath.Join(w.dir, dir))
	if diags.HasErrors() {
		w.Fatal(diags)
	}
	repository, err := gitdiff.Open(w.Context(), tree.Root)
	if err != nil {
		w.Fatal(err)
	}
	diff, err := repository.Diff(w.Context(), base)
	if err != nil {
		w.Fatal(err)
	}
	stacks, err := tree.Changes(w.Context(), diff)
	if err != nil {
		w.Fatal(err)
	}
	return tree, stacks
}

func (w work) want(dir, base string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.changed(dir, base)); diff != "" {
		w.Errorf("changed in %q since %q (-want +got):\n%s", dir, base, diff)
	}
}

const stack = "stack {}\n"

// Line A-12: first the changeset, then the order on top of it.
func TestOrderA12(t *testing.T) {
	w := begin(t, "a/s.tm", stack, "b/s.tm", "stack {\n  after = [\"../a\"]\n}\n", "c/s.tm", "stack {\n  before = [\"../a\"]\n}\n")
	w.commit("a/x", "1", "c/x", "1")
	tree, stacks := w.stacks("", "")
	g, diags := tree.Graph()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	filter := terramate.Filter{Changed: make(order.Selection, len(tree.Stacks))}
	for i := range stacks.Reasons {
		filter.Changed[i] = true
	}
	var got []string
	for _, n := range g.Sequence(order.ByQueue, tree.Select(filter).Selection) {
		got = append(got, g.Node(n).Name)
	}
	if want := "/c /a"; strings.Join(got, " ") != want {
		t.Errorf("sequence: %v, want %s", got, want)
	}
}

// Line A-57: files that are watched.
func TestOrderA57(t *testing.T) {
	w := begin(t, "a/s.tm", "stack {\n  watch = [\"/file\", \"../dir/f\", \"/gone\"]\n}\n", "b/s.tm", stack,
		"file", "1", "file2", "1", "dir/f", "1", "gone", "1")
	w.commit("file2", "2")
	w.want("", "")
	w.commit("file", "2")
	w.want("", "", "/a watch file")
	w.commit("dir/f", "2")
	w.want("", "HEAD^", "/a watch dir/f")
	w.git("rm", "-q", "gone")
	w.commit()
	w.want("", "HEAD^", "/a watch gone")
}

// Line A-58: local modules at any depth, of both languages.
func TestOrderA58(t *testing.T) {
	w := begin(
		t,
		"deep/s.tm", stack, "deep/main.tf", "module \"one\" {\n  source = \"../m/one\"\n}\n",
		"json/s.tm", stack, "json/main.tf.json", `{"module": {"two": {"source": "../m/two"}}}`,
		"own/x.tfcomponent.hcl", "stack \"part\" {\n  source = \"../parts/p\"\n}\n",
		"none/s.tm", stack, "none/main.tf", "module \"far\" {\n  source = \"m/two\"\n}\n",
		"parts/p/x.tfcomponent.hcl", "component \"c\" {\n  source = \"../../m/one\"\n}\n",
		"m/one/main.tf", "module \"two\" {\n  source = \"../two\"\n}\nmodule \"self\" {\n  source = \"../one\"\n}\n",
		"m/two/main.tf", "", "m/two/templates/t.txt", "", "m/three/main.tf", "",
	)
	w.commit("m/three/main.tf", "# changed")
	w.want("", "")
	w.commit("m/two/templates/t.txt", "changed")
	w.want("", "", "/deep module m/two/templates/t.txt", "/json module m/two/templates/t.txt", "/own module m/two/templates/t.txt")
	tree, stacks := w.stacks("", "")
	i, _ := tree.Index("/own")
	want := []gitdiff.Reason{{
		Kind: gitdiff.InModule, File: "m/two/templates/t.txt", Modules: []string{"parts/p", "m/one", "m/two"},
		Text: "module parts/p → m/one → m/two changed: m/two/templates/t.txt changed",
	}}
	if diff := cmp.Diff(want, stacks.Reasons[i]); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	w.write("parts/p/x.tfcomponent.hcl", "")
	w.want("", "HEAD", "/own module parts/p/x.tfcomponent.hcl")
}

func TestWhichStackAFileIsOf(t *testing.T) {
	w := begin(t, "a/s.tm", stack, "a/in/s.tm", stack, "a/sub/f", "1", "top", "1", "other/f", "1")
	w.commit("a/sub/f", "2", "top", "2", "other/f", "2")
	w.want("", "", "/a directory a/sub/f")
	w.want("a", "", "/ directory a/sub/f") // the tree begins below the top of the repository
	w.commit("a/in/f", "1")
	w.want("", "HEAD^", "/a/in directory a/in/f")
	w.want("a/in", "HEAD^", "/ directory a/in/f")
}

// Files that are staged, not staged, unknown, ignored, or have a name that is hard to write.
func TestUncommitted(t *testing.T) {
	w := begin(t, "a/s.tm", stack, ".gitignore", "*.log\n")
	w.write("a/staged", "1")
	w.git("add", "a/staged")
	w.write("a/x.log", "1", "a/new\nline ü\"", "1", "a/s.tm", stack+"\n")
	w.want("", "", "/a directory a/new\nline ü\"", "/a directory a/s.tm", "/a directory a/staged")
	repository, err := gitdiff.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	dirty, err := repository.Dirty(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range dirty {
		got = append(got, fmt.Sprintf("%s: %s", f.Path, f.What()))
	}
	want := []string{
		"a/new\nline ü\": is new and not known to git", "a/s.tm: changed, not committed", "a/staged: changed, not committed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dirty (-want +got):\n%s", diff)
	}
}

func TestRenamedAndDeleted(t *testing.T) {
	content := strings.Repeat("content that can be recognized\n", 10)
	w := begin(t, "a/s.tm", stack+"# "+content[:30]+"\n", "b/s.tm", stack, "b/f", content, "c/s.tm", stack, "d/x.tfcomponent.hcl", "\n")
	w.git("mv", "b/f", "c/f")
	w.commit()
	w.want("", "", "/b directory b/f", "/c directory c/f")
	w.git("mv", "a", "z")
	w.git("rm", "-q", "-r", "d")
	w.commit()
	w.want("", "HEAD^", "/z renamed z/s.tm", "/z directory z/s.tm", "gone /a /z", "gone /d")
}

func TestBases(t *testing.T) {
	w := begin(t, "a/s.tm", stack, "b/s.tm", stack)
	w.git("checkout", "-q", "main")
	w.commit("b/on-main", "1")
	w.want("", "", "/b directory b/on-main") // on the default branch: the commit before
	w.git("checkout", "-q", "work")
	w.commit("a/1", "1")
	w.git("tag", "one")
	w.commit("a/2", "1")
	w.want("", "", "/a directory a/1", "/a directory a/2") // no later changes of main
	w.want("", "main", "/a directory a/1", "/a directory a/2")
	w.want("", "one", "/a directory a/2")
	w.want("", "main..one", "/a directory a/1", "/b directory b/on-main")
	w.want("", "main...one", "/a directory a/1")
	w.want("", "one..", "/a directory a/2")
	w.write("a/3", "1")
	w.want("", "one..HEAD", "/a directory a/2") // a range is of commits alone

	// The default branch of origin comes first.
	w.git("update-ref", "refs/remotes/origin/trunk", "one")
	w.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	w.want("", "", "/a directory a/2", "/a directory a/3")
}

func TestProblems(t *testing.T) {
	problemOf := func(dir, base string) string {
		repository, err := gitdiff.Open(t.Context(), dir)
		if err == nil {
			_, err = repository.Diff(t.Context(), base)
		}
		if p, ok := errors.AsType[*gitdiff.Problem](err); ok {
			return p.Summary
		}
		return fmt.Sprint(err)
	}
	expect := func(dir, base, want string) {
		t.Helper()
		if got := problemOf(dir, base); got != want {
			t.Errorf("%s since %q: %s, want %s", dir, base, got, want)
		}
	}
	w := begin(t, "a/s.tm", stack)
	w.commit("a/x", "1")
	w.commit("a/x", "2")
	expect(w.dir, "nowhere", "Unknown base")
	expect(w.dir, "main..nowhere", "Unknown base")
	expect(w.dir, "--output=x..HEAD", "Unknown base")
	expect(w.dir, "HEAD:a", "Unknown base")
	w.git("checkout", "-q", "--orphan", "island")
	w.commit()
	expect(w.dir, "main", "No common history with base")
	w.git("branch", "-q", "-D", "main")
	expect(w.dir, "", "Missing base for comparison")

	shallow := filepath.Join(t.TempDir(), "clone")
	w.git("clone", "-q", "--depth=1", "--branch=work", "file://"+w.dir, shallow)
	for _, base := range []string{"", "HEAD^", "main"} {
		expect(shallow, base, "Base not in the clone")
	}

	empty := newWork(t)
	expect(empty.dir, "", "Not a Git repository")
	empty.git("init", "-q")
	expect(empty.dir, "", "No commits")
	empty.git("init", "-q", "--bare", "bare.git")
	expect(filepath.Join(empty.dir, "bare.git"), "", "Unusable Git repository")
	t.Setenv("PATH", t.TempDir())
	expect(w.dir, "", "Git not found")
}

// Rule G2: nothing that a repository configures is run.
func TestConfiguredProgramsAreNotRun(t *testing.T) {
	w := begin(t, "a/s.tm", stack, ".gitattributes", "* diff=evil\n")
	ran := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv"} {
		w.git("config", key, "touch "+ran+";")
	}
	w.write("a/s.tm", stack+"\n")
	w.want("", "", "/a directory a/s.tm")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a configured program was run")
	}
}

// All of a submodule has changed if it is at another commit: the stacks in it, and those that take
// modules from it.
func TestSubmodules(t *testing.T) {
	inner := begin(t, "s/s.tm", stack, "m/main.tf", "")
	outer := begin(t, "a/s.tm", stack, "a/main.tf", "module \"m\" {\n  source = \"../lib/m\"\n}\n", "b/s.tm", stack)
	outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "lib")
	outer.commit()
	outer.want("", "HEAD^", "/a module lib/m/main.tf", "/lib/s directory lib/s/s.tm")
	outer.want("", "HEAD")
	inner.commit("m/x", "1")
	outer.git("-C", "lib", "pull", "--quiet", inner.dir, "work")
	outer.want("", "HEAD", "/a module lib/m/main.tf", "/lib/s directory lib/s/s.tm")
	outer.git("submodule", "--quiet", "deinit", "-f", "lib") // nothing is checked out
	outer.want("", "HEAD^")
}

// Files that say that a stack counts as changed, or that it does not.
func TestTriggers(t *testing.T) {
	const trigger = "trigger {\n  ctime   = 1663155022\n  reason  = \"drifted\"\n  type    = %q\n  context = \"stack\"\n}\n"
	changed, ignored := fmt.Sprintf(trigger, "changed"), fmt.Sprintf(trigger, "ignore-change")
	w := begin(t, "s.tm", stack, "a/s.tm", stack, "a/in/s.tm", stack, "b/s.tm", stack, ".tmtriggers/b/old.tm.hcl", changed)
	w.commit(".tmtriggers/a/in/1.tm.hcl", changed)
	w.want("", "", "/a/in trigger .tmtriggers/a/in/1.tm.hcl")
	tree, stacks := w.stacks("", "")
	i, _ := tree.Index("/a/in")
	if got, want := stacks.Reasons[i][0].Text, "it was triggered by .tmtriggers/a/in/1.tm.hcl: drifted"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	w.git("rm", "-q", ".tmtriggers/b/old.tm.hcl")
	w.commit(".tmtriggers/1.tm.hcl", changed) // of the stack in the root
	w.want("", "HEAD^", "/ trigger .tmtriggers/1.tm.hcl")
	w.commit("a/f", "1", "b/f", "1", ".tmtriggers/a/2.tm.hcl", ignored)
	w.want("", "HEAD^", "/b directory b/f")
	w.want("a", "HEAD^", "/ directory a/f") // the triggers are of another tree
	w.commit(".tmtriggers/nowhere/1.tm.hcl", changed, ".tmtriggers/b/3.tm.hcl", "no trigger")
	w.want("", "HEAD^", "/b trigger .tmtriggers/b/3.tm.hcl")
	_, stacks = w.stacks("", "HEAD^")
	var notes []string
	for _, note := range stacks.Notes {
		notes = append(notes, note.Summary)
	}
	if diff := cmp.Diff([]string{"Unreadable trigger", "Trigger without a stack"}, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// The module that a file terragrunt.hcl names as its source, and the files that it includes.
func TestTerragruntSource(t *testing.T) {
	w := begin(
		t,
		"root.hcl", "", "modules/vpc/main.tf", "module \"deep\" {\n  source = \"../deep\"\n}\n",
		"modules/deep/main.tf", "", "modules/other/main.tf", "",
		"live/a/s.tm", stack,
		"live/a/terragrunt.hcl",
		"include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"../../modules//vpc?ref=x\"\n}\n",
		"live/b/s.tm", stack, "live/b/terragrunt.hcl", "terraform {\n  source = \"${get_repo_root()}/modules/other\"\n}\n",
		"live/c/s.tm", stack, "live/c/terragrunt.hcl", "terraform {\n  source = \"git::https://example.test/x.git\"\n}\n",
	)
	w.commit("modules/deep/main.tf", "# changed")
	w.want("", "", "/live/a module modules/deep/main.tf")
	w.commit("modules/other/main.tf", "# changed", "root.hcl", "# changed")
	w.want("", "HEAD^", "/live/a include root.hcl", "/live/b module modules/other/main.tf")
	_, stacks := w.stacks("", "")
	if len(stacks.Notes) > 0 {
		t.Error(stacks.Notes)
	}
	w.commit("live/c/terragrunt.hcl", "terraform {\n  source = run_cmd(\"x\")\n}\n")
	_, stacks = w.stacks("", "HEAD^")
	if len(stacks.Notes) != 1 || stacks.Notes[0].Summary != "Unknown module source" ||
		!strings.Contains(stacks.Notes[0].Subject.Filename, filepath.FromSlash("live/c/terragrunt.hcl")) {
		t.Errorf("notes %v, want one of a source that is not known", stacks.Notes)
	}
}

// The files of a commit are written with its links and programs, and never through a link that
// leads out.
func TestExport(t *testing.T) {
	w := begin(t, "a/main.tf", "# one\n", "a/run.sh", "#!/bin/sh\n", "b.txt", "")
	if err := os.Chmod(filepath.Join(w.dir, "a", "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../b.txt", filepath.Join(w.dir, "a", "link")); err != nil {
		t.Fatal(err)
	}
	w.commit()
	w.git("rm", "-rq", "a")
	w.write("b.txt", "changed")
	repository, err := gitdiff.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := repository.Diff(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := diff.Export(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		got[filepath.ToSlash(rel)] = fmt.Sprintf("%v %s", info.Mode()&^0o077, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a/main.tf": "-rw------- # one\n",
		"a/run.sh":  "-rwx------ #!/bin/sh\n",
		"a/link":    "Lrwx------ ",
		"b.txt":     "-rw------- ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A directory that is a link elsewhere is not written into.
	elsewhere, through := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(through, "a")); err != nil {
		t.Fatal(err)
	}
	if err := diff.Export(t.Context(), through); err == nil {
		t.Error("there is no error for a directory that leads out")
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v elsewhere, want nothing", entries, err)
	}
}

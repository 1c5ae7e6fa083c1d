// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// sharing is stacks that use one server, and the packages that their fetchers share.
type sharing struct {
	*world
	shared Shared
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	s := &sharing{world: newWorld(t)}
	s.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule, "same.tf.txt": "-> main.tf"}, "v1")
	s.server.Archive("m.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	s.server.Publish("modules/ns/m/x", "1.0.0", "/archives/m.tgz")
	return s
}

// another returns one more stack. It has a source of each kind.
func (s *sharing) another(environ ...string) *world {
	s.Helper()
	w := &world{T: s.T, server: s.server, dir: s.TempDir(), environ: slices.Concat(s.environ, environ)}
	w.stack(`
component "git" { source = "git::https://HOST/git/r.git?ref=v1" }
component "archive" { source = "https://HOST/archives/m.tgz" }
component "registry" {
  source  = "HOST/ns/m/x"
  version = "1.0.0"
}`)
	return w
}

func (s *sharing) share(opts *FetcherOptions) { opts.Shared = &s.shared }

// fetched returns the requests for files since the last call, without those that only list
// versions.
func (s *sharing) fetched() []string {
	var files []string
	for _, path := range s.server.Requests() {
		if strings.HasSuffix(path, "/git-upload-pack") || strings.HasPrefix(path, "/archives/") {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files
}

// packageDirs returns where the packages of a stack are, by name of the component.
func (w *world) packageDirs() map[string]string {
	w.Helper()
	dirs := map[string]string{}
	for name, component := range w.mustOffline().Root.Components {
		dirs[name] = component.Source.Dir
	}
	return dirs
}

func TestStacksSharePackages(t *testing.T) {
	s := newSharing(t)
	first := s.another("CAIRN_STACK=a", "TF_VAR_size=1")
	first.mustFetch(s.share)
	if got := slices.Compact(s.fetched()); len(got) != 2 { // of two packages that are the same archive
		t.Fatalf("for the first stack %q was fetched", got)
	}
	second, locked := s.another("CAIRN_STACK=b"), s.another()
	second.mustFetch(s.share)
	if got := s.fetched(); len(got) > 0 {
		t.Errorf("for the second stack %q was fetched", got)
	}
	if got, want := second.read(LockFileName), first.read(LockFileName); got != want {
		t.Errorf("got lock file %s, want %s", got, want)
	}

	// A stack with a lock file is another thing, since it wants this content alone. Two of them share.
	for i, w := range []*world{locked, s.another()} {
		w.write(LockFileName, first.read(LockFileName))
		w.mustFetch(s.share)
		if got := s.fetched(); (len(got) > 0) != (i == 0) {
			t.Errorf("for stack %d with a lock file %q was fetched", i, got)
		}
	}

	// Each has its own files.
	theirs := first.packageDirs()
	for name, dir := range second.packageDirs() {
		if err := os.WriteFile(filepath.Join(theirs[name], "main.tf"), []byte("# edited"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "main.tf")); err != nil || string(got) != emptyModule {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if target, err := os.Readlink(filepath.Join(second.packageDirs()["git"], "same.tf.txt")); err != nil || target != "main.tf" {
		t.Errorf("the link in the repository is one to %q, %v", target, err)
	}
}

func TestStacksFetchTogether(t *testing.T) {
	s := newSharing(t)
	source, err := stackconfig.ParseSource("git::https://" + s.server.Host + "/git/r.git?ref=v1")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var started []string
	var together sync.WaitGroup
	for range 4 {
		w := s.another()
		fetcher, err := NewFetcher(FetcherOptions{Options: w.options(), Shared: &s.shared, Started: func(name string) {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, name)
		}})
		if err != nil {
			t.Fatal(err)
		}
		together.Go(func() {
			if got, err := fetcher.Resolver(t.Context()).Resolve(source, ""); err != nil || !strings.HasPrefix(got.Dir, fetcher.paths.dir) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	together.Wait()
	if len(started) != 1 {
		t.Errorf("fetched %q, want one package once", started)
	}
}

// A package that was fetched for another stack is used only as it was then, and only where the same
// would be fetched.
func TestPackagesThatAreNotShared(t *testing.T) {
	s := newSharing(t)
	first := s.another()
	first.mustFetch(s.share)
	all := s.fetched()

	for what, w := range map[string]*world{
		"another environment": s.another("GIT_SSH_COMMAND=other"),
		"another token":       s.another("TF_TOKEN_example_com=other"),
	} {
		w.mustFetch(s.share)
		if got := s.fetched(); !slices.Equal(got, all) {
			t.Errorf("with %s %q was fetched, want %q", what, got, all)
		}
	}
	config := filepath.Join(t.TempDir(), "x.tfrc")
	for _, content := range []string{"", `credentials "example.com" { token = "other" }`} {
		writeFile(t, config, content)
		s.another("TF_CLI_CONFIG_FILE=" + config).mustFetch(s.share)
		if got := s.fetched(); !slices.Equal(got, all) {
			t.Errorf("with the CLI configuration %q %q was fetched, want %q", content, got, all)
		}
	}

	dirs := first.packageDirs()
	writeFile(t, filepath.Join(dirs["git"], "more.tf"), "# added")
	if err := os.RemoveAll(dirs["archive"]); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dirs["registry"], "main.tf"), "# edited")
	last := s.another()
	last.mustFetch(s.share)
	if got := s.fetched(); !slices.Equal(got, all) {
		t.Errorf("after changes to the packages %q was fetched, want %q", got, all)
	}
	if got, want := last.read(LockFileName), first.read(LockFileName); got != want {
		t.Errorf("got lock file %s, want %s", got, want)
	}
}

func TestFailedFetchesAreNotShared(t *testing.T) {
	s := newSharing(t)
	s.server.RequireToken("open-sesame")
	_, diags, _ := s.another().fetch(t.Context(), s.share)
	s.wantError(diags, "refuses access")
	s.server.RequireToken("")
	s.another().mustFetch(s.share)
}

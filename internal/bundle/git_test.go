// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Over ssh, git runs a program at the other end. The one that stands for ssh here runs it at once,
// and notes the host.
func TestGitOverSSH(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	w := newWorld(t)
	w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "v1")
	root := ""
	for _, entry := range w.server.Environ() {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			root = home
		}
	}
	dir := t.TempDir()
	script := writeFile(t, filepath.Join(dir, "ssh"), "#!/bin/sh\necho \"$@\" >> "+dir+"/log\nfor command; do :; done\neval \"$command\"\n")
	if err := os.Chmod(script, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	w.environ = append(w.environ, "GIT_SSH_COMMAND="+script)
	w.stack(`
component "a" { source = "git::ssh://git@example.test:2222` + filepath.ToSlash(root) + `/r.git?ref=v1" }
component "b" { source = "someone@example.test:` + filepath.ToSlash(root)[1:] + `/r.git" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(diags, err)
	}
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, want := range []string{"-p 2222 git@example.test git-upload-pack", "someone@example.test git-upload-pack"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("ssh was called with %s, want %s", log, want)
		}
	}
	w.mustOffline()
	if lock := w.read(LockFileName); !strings.Contains(lock, `remote "git::ssh://git@example.test:2222/`) {
		t.Errorf("got lock file %s", lock)
	}
}

func TestGitSubmodules(t *testing.T) {
	w := newWorld(t)
	address, inner := w.server.Repository(t, "inner.git", map[string]string{"main.tf": emptyModule}, "")
	w.server.RepositoryWithSubmodule(t, "outer.git", "lib/inner", strings.TrimPrefix(address, "git::"), inner)
	w.stack(`component "c" { source = "git::https://HOST/git/outer.git//lib/inner" }`)
	config := w.mustFetch(nil)
	if _, err := os.Stat(filepath.Join(config.Root.Components["c"].Source.Dir, ".git")); err == nil {
		t.Error("git's files are in the package")
	}
	w.mustOffline()
}

// A submodule with another kind of address would read files that the language gives no access to.
func TestGitSubmoduleFromDisk(t *testing.T) {
	w := newWorld(t)
	_, inner := w.server.Repository(t, "inner.git", map[string]string{"main.tf": emptyModule}, "")
	w.server.RepositoryWithSubmodule(t, "outer.git", "lib/inner", "file:///nowhere/inner.git", inner)
	w.stack(`component "c" { source = "git::https://HOST/git/outer.git//lib/inner" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "git failed: ", "'file' not allowed")
}

func TestGitErrorsHideCredentials(t *testing.T) {
	err := &gitError{stderr: "warning: x\nfatal: unable to access 'https://user:secret@example.test/x.git/': no.\n"}
	if got, want := err.Error(), "git failed: unable to access 'https://example.test/x.git/': no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Hooks run with variables that say where their repository is.
func TestGitIgnoresSurroundingRepository(t *testing.T) {
	w := newWorld(t)
	_, commit := w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "")
	location, err := url.Parse("https://" + w.server.Host + "/git/r.git")
	if err != nil {
		t.Fatal(err)
	}
	fetcher := &gitFetcher{append(w.environ, "GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere")}
	if got, err := fetcher.fetch(context.Background(), location, t.TempDir(), ""); err != nil || got != commit {
		t.Errorf("got %q, %v; want %s", got, err, commit)
	}
}

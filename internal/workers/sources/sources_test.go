// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sources_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// write writes files, by their paths with slashes. Those that end with a slash are directories.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name, isDir := filepath.Join(dir, filepath.FromSlash(name)), strings.HasSuffix(name, "/")
		at := filepath.Dir(name)
		if isDir {
			at = name
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if isDir {
			continue
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// read is the inverse of write. Symbolic links have their targets after an arrow.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))
		switch {
		case entry.IsDir():
			files[name+"/"] = ""
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			files[name] = "-> " + target
			return err
		default:
			content, err := os.ReadFile(path)
			files[name] = string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func pack(t *testing.T, dir string) (archive []byte, digest string) {
	t.Helper()
	archive, digest, err := sources.Pack(dir)
	if err != nil {
		t.Fatalf("Pack: %s", failure.Reason(err))
	}
	return archive, digest
}

// travel packs a directory and returns the one of a worker.
func travel(t *testing.T, dir string) string {
	t.Helper()
	archive, digest := pack(t, dir)
	got, err := sources.Cache{Dir: t.TempDir()}.Get(t.Context(), digest, func() ([]byte, error) { return archive, nil })
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return got
}

func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, read(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

var someFiles = map[string]string{
	"main.tf": "a", "b/": "", "b/main.tf": "", "b/c/": "", "b/c/long.txt": strings.Repeat("long ", 100_000), "b/ä ö.txt": "umlauts",
}

func TestTravel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, someFiles)
	wantFiles(t, travel(t, dir), someFiles)
}

// Equal files make an equal archive, whatever else differs.
func TestEqualDigest(t *testing.T) {
	one, other := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	write(t, one, someFiles)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(someFiles))) {
		write(t, other, map[string]string{name: someFiles[name]})
		path := filepath.Join(other, filepath.FromSlash(name))
		if !strings.HasSuffix(name, "/") {
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, time.Unix(1, 2), time.Unix(3, 4)); err != nil {
			t.Fatal(err)
		}
	}
	archive, digest := pack(t, one)
	again, same := pack(t, other)
	if digest != same || !bytes.Equal(archive, again) {
		t.Errorf("two digests of equal files: %s and %s", digest, same)
	}
	if sum := sha256.Sum256(archive); digest != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest %s is not that of the archive", digest)
	}
	write(t, other, map[string]string{"main.tf": "b"})
	if _, changed := pack(t, other); changed == digest {
		t.Error("the digest does not change with a file")
	}
}

// Results of work on this machine stay, the packages of stacks travel.
func TestStays(t *testing.T) {
	dir := t.TempDir()
	travels := map[string]string{
		"stack/": "", "stack/main.tfcomponent.hcl": "", "stack/.terraform.lock.hcl": "lock",
		"stack/.cairn/": "", "stack/.cairn/sources/": "", "stack/.cairn/sources/pkg/": "", "stack/.cairn/sources/pkg/main.tf": "package",
		"root/": "", "root/.terraform/": "", "root/.terraform/modules/": "", "root/.terraform/modules/m/": "",
		"root/.terraform/modules/m/main.tf": "m",
		"root/terraform.tf":                 "", "root/cairn.state.md": "notes",
	}
	write(t, dir, travels)
	write(t, dir, map[string]string{
		"stack/cairn.state.db": "s", "stack/cairn.state.db-wal": "s", "stack/.cairn/engine/work": "w", "stack/.cairn/lock": "l",
		"root/terraform.tfstate": "s", "root/terraform.tfstate.backup": "s", "root/terraform.tfstate.d/prod/terraform.tfstate": "s",
		"root/.terraform/providers/p": "binary", "root/.terraform/terraform.tfstate": "backend", "root/.terraform/environment": "prod",
	})
	got := read(t, travel(t, dir))
	for name, content := range travels {
		if found, ok := got[name]; found != content || !ok && !strings.HasSuffix(name, "/") {
			t.Errorf("%s did not travel", name)
		}
		delete(got, name)
	}
	for name := range got {
		if !strings.HasSuffix(name, "/") { // an empty directory has nothing of it
			t.Errorf("%s has travelled", name)
		}
	}
}

func TestIgnored(t *testing.T) {
	dir := t.TempDir()
	travels := map[string]string{
		".terraformignore": "secret.*\nbuild/*\n!build/keep.txt\n", "main.tf": "", "deep/": "", "build/": "", "build/keep.txt": "k",
	}
	write(t, dir, travels)
	write(t, dir, map[string]string{"secret.txt": "s", "deep/secret.pem": "s", "build/out": "o"})
	wantFiles(t, travel(t, dir), travels)
}

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"run.sh": "#!/bin/sh", "plain": ""})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := travel(t, dir)
	for name, want := range map[string]fs.FileMode{"run.sh": 0o700, "plain": 0o600} {
		info, err := os.Stat(filepath.Join(got, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has the mode %s, want %s", name, info.Mode(), want)
		}
	}
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/main.tf": "a", "b/": ""})
	testenv.Symlink(t, "../a", filepath.Join(dir, "b", "folder"))
	testenv.Symlink(t, filepath.Join("..", "a", "main.tf"), filepath.Join(dir, "b", "main.tf"))
	wantFiles(t, travel(t, dir), map[string]string{
		"a/": "", "a/main.tf": "a", "b/": "", "b/folder": "-> ../a", "b/main.tf": "-> ../a/main.tf",
	})
}

func TestSymlinksThatLeadOut(t *testing.T) {
	for name, target := range map[string]string{"relative": "../outside.txt", "absolute": filepath.Join(t.TempDir(), "outside.txt")} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "repo")
			write(t, dir, map[string]string{"../outside.txt": "secret", "main.tf": ""})
			testenv.Symlink(t, target, filepath.Join(dir, "link.txt"))
			_, _, err := sources.Pack(dir)
			if err == nil {
				t.Fatal("Pack succeeds")
			}
			if text := failure.Reason(err); !strings.Contains(text, "link.txt") && !strings.Contains(text, "outside.txt") {
				t.Errorf("the error names neither the link nor its target: %s", text)
			}
			write(t, dir, map[string]string{".terraformignore": "link.txt\n"})
			wantFiles(t, travel(t, dir), map[string]string{".terraformignore": "link.txt\n", "main.tf": ""})
		})
	}
}

// A directory that is a symbolic link is its target.
func TestSymlinkToTheTop(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"real/main.tf": "a"})
	testenv.Symlink(t, "real", filepath.Join(dir, "link"))
	wantFiles(t, travel(t, filepath.Join(dir, "link")), map[string]string{"main.tf": "a"})
}

// The top of a repository is one at the worker, too, without what is in it.
func TestRepository(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"repository": {".git/": "", ".git/HEAD": "ref"},
		"worktree":   {".git": "gitdir: /somewhere/else"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, files)
			write(t, dir, map[string]string{"stack/main.tf": ""})
			if got := sources.Top(filepath.Join(dir, "stack")); got != dir {
				t.Errorf("Top = %s, want %s", got, dir)
			}
			got := travel(t, dir)
			wantFiles(t, got, map[string]string{".git/": "", "stack/": "", "stack/main.tf": ""})
			if top := sources.Top(filepath.Join(got, "stack")); top != got {
				t.Errorf("at the worker, Top = %s, want %s", top, got)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.tf": ""})
	if got := sources.Top(dir); got != dir {
		t.Errorf("Top of a directory in no repository = %s, want %s", got, dir)
	}
	wantFiles(t, travel(t, dir), map[string]string{"main.tf": ""})
}

// entry is a file in an archive that somebody has made up.
type entry struct {
	name, link, content string
	kind                byte
}

func archiveOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Linkname: e.link, Size: int64(len(e.content)), Mode: 0o600, Typeflag: e.kind}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// No archive writes outside its directory, nor makes a file of it something that is outside.
func TestHostileArchive(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, entries := range map[string][]entry{
		"parent":                  {{name: "../outside", content: "x", kind: tar.TypeReg}},
		"parent in the middle":    {{name: "a/../../outside", content: "x", kind: tar.TypeReg}},
		"directory in the parent": {{name: "../outside/", kind: tar.TypeDir}},
		"absolute":                {{name: outside, content: "x", kind: tar.TypeReg}},
		"no name":                 {{name: ".", content: "x", kind: tar.TypeReg}},
		"file through a link":     {{name: "a", link: "..", kind: tar.TypeSymlink}, {name: "a/outside", content: "x", kind: tar.TypeReg}},
		"file through an absolute link": {
			{name: "a", link: filepath.Dir(outside), kind: tar.TypeSymlink}, {name: "a/outside", content: "x", kind: tar.TypeReg},
		},
		"file in the place of a link": {{name: "a", link: outside, kind: tar.TypeSymlink}, {name: "a", content: "x", kind: tar.TypeReg}},
		"link to the parent":          {{name: "a", link: "../outside", kind: tar.TypeSymlink}},
		"deep link to the parent":     {{name: "a/b", link: "../../outside", kind: tar.TypeSymlink}},
		"absolute link":               {{name: "a", link: outside, kind: tar.TypeSymlink}},
		"hard link":                   {{name: "a", link: outside, kind: tar.TypeLink}},
		"device":                      {{name: "a", kind: tar.TypeChar}},
		"pipe":                        {{name: "a", kind: tar.TypeFifo}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			archive := archiveOf(t, entries...)
			sum := sha256.Sum256(archive)
			got, err := sources.Cache{Dir: dir}.Get(t.Context(), hex.EncodeToString(sum[:]), func() ([]byte, error) { return archive, nil })
			if err == nil {
				t.Errorf("Get = %s", got)
			}
			for _, at := range []string{outside, filepath.Join(dir, "outside"), filepath.Join(filepath.Dir(dir), "outside")} {
				if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is there: %v", at, err)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "making-*"))
			if err != nil || left != nil {
				t.Errorf("there are %s, error %v", left, err)
			}
		})
	}
}

// An archive that its digest does not name is refused, and does not stand in the way of the right
// one.
func TestDamagedArchive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, someFiles)
	archive, digest := pack(t, dir)
	cache := sources.Cache{Dir: t.TempDir()}
	damaged := bytes.Clone(archive)
	damaged[len(damaged)/2]++
	for _, wrong := range [][]byte{damaged, archive[:len(archive)-1], nil} {
		if _, err := cache.Get(t.Context(), digest, func() ([]byte, error) { return wrong, nil }); !errors.Is(err, sources.ErrDigest) {
			t.Errorf("Get: got error %v, want %v", err, sources.ErrDigest)
		}
	}
	away := errors.New("away")
	if _, err := cache.Get(t.Context(), digest, func() ([]byte, error) { return nil, away }); !errors.Is(err, away) {
		t.Errorf("Get: got error %v, want %v", err, away)
	}
	got, err := cache.Get(t.Context(), digest, func() ([]byte, error) { return archive, nil })
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, got, someFiles)
}

// Several that need an archive at once fetch it once.
func TestUnusedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	cache := sources.Cache{Dir: t.TempDir()}
	get := func(content string) string {
		t.Helper()
		from := t.TempDir()
		if err := os.WriteFile(filepath.Join(from, "main.tf"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		archive, digest, err := sources.Pack(from)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := cache.Get(t.Context(), digest, func() ([]byte, error) { return archive, nil })
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	age := func(dir string, days int) {
		t.Helper()
		at := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	unused, recent, used := get("a"), get("b"), get("c")
	left, other := filepath.Join(cache.Dir, "making-123"), filepath.Join(cache.Dir, "providers")
	for _, dir := range []string{left, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for dir, days := range map[string]int{unused: 31, recent: 29, used: 31, left: 31, other: 31} {
		age(dir, days)
	}
	if get("c") != used {
		t.Error("the same files have another directory")
	}
	get("d")
	for dir, want := range map[string]bool{unused: false, recent: true, used: true, left: false, other: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", dir, err == nil, want)
		}
	}
}

func TestGetAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, someFiles)
	archive, digest := pack(t, dir)
	at := t.TempDir()
	var fetched atomic.Int64
	var getting sync.WaitGroup
	for range 8 {
		getting.Go(func() {
			got, err := sources.Cache{Dir: at}.Get(t.Context(), digest, func() ([]byte, error) {
				fetched.Add(1)
				return archive, nil
			})
			if err != nil || got != filepath.Join(at, digest) {
				t.Errorf("Get = %s, error %v", got, err)
			}
			if _, err := os.Stat(filepath.Join(got, "b", "c", "long.txt")); err != nil {
				t.Error(err)
			}
		})
	}
	getting.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
	wantFiles(t, filepath.Join(at, digest), someFiles)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package selection_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
)

var platform = release.Platform{OS: "os", Arch: "arch"}

func provider(t testing.TB, addr string) stackaddrs.Provider {
	t.Helper()
	p, err := release.ParseProvider(addr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// setup is a registry with a provider in some versions, and a directory to install into.
type setup struct {
	*registrytest.Server
	bar stackaddrs.Provider
	req *selection.Request
}

func newSetup(t *testing.T) *setup {
	server := registrytest.Start(t)
	for _, version := range []string{"1.2.0", "1.10.0", "2.0.0-beta", "0.9.1"} {
		server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: version})
	}
	s := &setup{Server: server, bar: provider(t, server.Host+"/foo/bar")}
	s.req = &selection.Request{
		Requirements: map[stackaddrs.Provider][]string{s.bar: nil},
		Locks:        &locks.Locks{},
		Sources: func(stackaddrs.Provider) source.Source {
			return source.Registry{Client: server.Registries(nil)}
		},
		Dir: packagecache.Dir{Path: t.TempDir(), Platform: platform},
	}
	return s
}

// install installs, and returns the lock after that.
func (s *setup) install(t *testing.T) *locks.Lock {
	t.Helper()
	selected, err := s.req.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.req.Locks = selected
	return selected.Provider(s.bar)
}

func TestVersions(t *testing.T) {
	s := newSetup(t)
	for constraints, want := range map[string]string{
		"": "1.10.0 ", "< 1.10": "1.2.0 < 1.10.0", "~> 0.9": "0.9.1 ~> 0.9", "2.0.0-beta": "2.0.0-beta 2.0.0-beta",
		">= 1.0, != 1.10.0": "1.2.0 >= 1.0.0, != 1.10.0", ">= 2.0.0-alpha": "",
	} {
		s.req.Locks, s.req.Requirements[s.bar] = &locks.Locks{}, []string{constraints}
		selected, err := s.req.Install(t.Context())
		got := ""
		if err == nil {
			lock := selected.Provider(s.bar)
			got = fmt.Sprintf("%s %s", lock.Version, lock.Constraints)
		}
		if got != want {
			t.Errorf("for %q, %q is chosen, want %q (%v)", constraints, got, want, err)
		}
	}
}

func TestLockedVersionStays(t *testing.T) {
	s := newSetup(t)
	s.req.Requirements[s.bar] = []string{"1.2.0"}
	first := s.install(t)
	if len(first.Hashes) != 2 || !release.HasScheme(first.Hashes, release.ContentScheme) ||
		!release.HasScheme(first.Hashes, release.ArchiveScheme) {
		t.Errorf("locked are %v", first.Hashes)
	}
	s.req.Requirements[s.bar] = []string{">= 1.0"}
	s.Requests("")
	if again := s.install(t); again.Version.String() != "1.2.0" ||
		again.Constraints != ">= 1.0.0" || !slices.Equal(again.Hashes, first.Hashes) {
		t.Errorf("then locked is %+v", again)
	}
	if made := s.Requests(""); len(made) > 0 {
		t.Errorf("there were requests for what is there: %q", made)
	}
	s.req.Requirements[s.bar] = []string{">= 1.3"}
	if _, err := s.req.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "version 1.2.0 is locked") {
		t.Errorf("a locked version that does not fit: %v", err)
	}
	s.req.Upgrade = true
	if upgraded := s.install(t); upgraded.Version.String() != "1.10.0" || slices.Contains(upgraded.Hashes, first.Hashes[0]) {
		t.Errorf("an upgrade locks %+v", upgraded)
	}
}

func TestChangedPackageIsReplaced(t *testing.T) {
	s := newSetup(t)
	lock := s.install(t)
	dir := s.req.Dir.Package(lock.ID()).Dir
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := s.install(t); !slices.Equal(again.Hashes, lock.Hashes) {
		t.Errorf("locked are %v, want %v", again.Hashes, lock.Hashes)
	}
	if err := s.req.Dir.Package(lock.ID()).Check(lock.Hashes); err != nil {
		t.Error(err)
	}
}

func TestOtherChecksumIsRefused(t *testing.T) {
	s := newSetup(t)
	lock := *s.install(t)
	lock.Hashes = []release.Hash{"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
	s.req.Locks = &locks.Locks{}
	s.req.Locks.Set(lock)
	if err := s.req.Dir.Remove(lock.ID()); err != nil {
		t.Fatal(err)
	}
	selected, err := s.req.Install(t.Context())
	if failed, ok := errors.AsType[*selection.Error](err); !ok || failed.Provider != s.bar || !errors.As(err, new(*source.MismatchError)) {
		t.Errorf("Install = %v, %v", selected, err)
	}
}

func TestNothingRequired(t *testing.T) {
	s := newSetup(t)
	s.install(t)
	s.req.Requirements = nil
	selected, err := s.req.Install(t.Context())
	if err != nil || len(selected.All()) > 0 {
		t.Errorf("Install = %v, %v", selected, err)
	}
}

func TestCache(t *testing.T) {
	s := newSetup(t)
	s.req.Cache = &packagecache.Dir{Path: t.TempDir(), Platform: platform}
	lock := s.install(t)
	if target, err := os.Readlink(s.req.Dir.Package(lock.ID()).Dir); err != nil || !strings.HasPrefix(target, s.req.Cache.Path) {
		t.Errorf("the package is a link to %q, %v", target, err)
	}
	var fetched int
	s.req.Observe = func(event selection.Event) {
		if event.Stage == selection.Fetched {
			fetched++
		}
	}

	s.req.Dir.Path = t.TempDir()
	s.Requests("")
	if again := s.install(t); !slices.Equal(again.Hashes, lock.Hashes) || fetched != 0 {
		t.Errorf("locked are %v; %d packages fetched", again.Hashes, fetched)
	}
	if made := s.Requests(""); len(made) > 0 {
		t.Errorf("there were requests for what is kept: %q", made)
	}
	s.req.Dir.Path, s.req.Locks = t.TempDir(), &locks.Locks{}
	if again := s.install(t); !slices.Equal(again.Hashes, lock.Hashes) || fetched != 1 {
		t.Errorf("without locks, locked are %v; %d packages fetched", again.Hashes, fetched)
	}
	s.req.Dir.Path, s.req.Locks, s.req.Unlocked = t.TempDir(), &locks.Locks{}, true
	if again := s.install(t); len(again.Hashes) != 1 || fetched != 1 {
		t.Errorf("where that is allowed, locked are %v; %d packages fetched", again.Hashes, fetched)
	}
}

// Several programs that install the same package into one cache at the same time fetch it once, if
// they may use the packages in the cache, and none finds half of it.
func TestCacheOfSeveral(t *testing.T) {
	s := newSetup(t)
	cache := &packagecache.Dir{Path: t.TempDir(), Platform: platform}
	locked := s.install(t)
	before := &locks.Locks{}
	before.Set(*locked)
	s.Requests("")
	var all sync.WaitGroup
	for range 8 {
		one := *s.req
		one.Locks, one.Cache, one.Dir.Path = before, cache, t.TempDir()
		all.Go(func() {
			selected, err := one.Install(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if err := one.Dir.Package(locked.ID()).Check(selected.Provider(s.bar).Hashes); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	archives := slices.DeleteFunc(s.Requests(""), func(path string) bool { return !strings.HasSuffix(path, ".zip") })
	if len(archives) != 1 {
		t.Errorf("fetched are %q", archives)
	}
}

// A cache that was filled for others, who may only read it, is good enough.
func TestCacheToRead(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("modes of files are not obeyed here")
	}
	s := newSetup(t)
	s.req.Cache = &packagecache.Dir{Path: t.TempDir(), Platform: platform}
	s.install(t)
	if err := os.RemoveAll(s.req.Dir.Path); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(s.req.Cache.Path, ".lock-*")); err != nil || len(left) != 1 || os.Remove(left[0]) != nil {
		t.Fatalf("left are %q, %v", left, err)
	}
	if err := os.Chmod(s.req.Cache.Path, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(s.req.Cache.Path, 0o700) //nolint:errcheck,gosec // so that it can be removed
	s.install(t)
}

// A package in a cache is not exchanged for the same: others may be running it.
func TestCacheIsKept(t *testing.T) {
	s := newSetup(t)
	s.req.Cache = &packagecache.Dir{Path: t.TempDir(), Platform: platform}
	lock := s.install(t)
	before, err := os.Stat(s.req.Cache.Package(lock.ID()).Dir)
	if err != nil {
		t.Fatal(err)
	}
	s.req.Locks, s.req.Dir.Path = &locks.Locks{}, t.TempDir()
	s.install(t)
	if after, err := os.Stat(s.req.Cache.Package(lock.ID()).Dir); err != nil || !os.SameFile(before, after) {
		t.Errorf("the package is another one, %v", err)
	}
}

// A program that is killed while it fetches leaves nothing that is taken for a package, and its
// leftovers are removed some day.
func TestLeftBehind(t *testing.T) {
	s := newSetup(t)
	left := filepath.Join(s.req.Dir.Path, ".new-1", "package")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	s.install(t)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("what may still be used is gone: %v", err)
	}
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Dir(left), long, long); err != nil {
		t.Fatal(err)
	}
	s.req.Locks = &locks.Locks{}
	s.install(t)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what nobody uses is still there: %v", err)
	}
	if packages, err := s.req.Dir.Packages(); err != nil || len(packages) != 1 {
		t.Errorf("%d packages, %v", len(packages), err)
	}
}

// Requests of one program that would fetch the same fetch it once, unless the package of another
// one does not fit.
func TestShared(t *testing.T) {
	s := newSetup(t)
	shared := &selection.Shared{}
	var dirs []string
	request := func() *selection.Request {
		one := *s.req
		one.Shared, one.Dir.Path = shared, t.TempDir()
		dirs = append(dirs, one.Dir.Path)
		return &one
	}
	archives := func() (n int) {
		for _, path := range s.Requests("") {
			if strings.HasSuffix(path, ".zip") {
				n++
			}
		}
		return n
	}
	var all sync.WaitGroup
	for range 4 {
		one := request()
		all.Go(func() {
			if selected, err := one.Install(t.Context()); err != nil || len(selected.Provider(s.bar).Hashes) != 2 {
				t.Errorf("locked is %v, %v", selected, err)
			}
		})
	}
	all.Wait()
	if n := archives(); n != 1 {
		t.Errorf("%d archives are fetched", n)
	}
	other := request()
	other.Requirements = map[stackaddrs.Provider][]string{s.bar: nil}
	other.Locks = &locks.Locks{}
	version, err := release.ParseVersion("1.10.0")
	if err != nil {
		t.Fatal(err)
	}
	other.Locks.Set(locks.Lock{Provider: s.bar, Version: version, Hashes: []release.Hash{"h1:other"}})
	if _, err := other.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "recorded before") {
		t.Errorf("a package that is not the one that is locked: %v", err)
	}
	if n := archives(); n != 1 {
		t.Errorf("%d archives are fetched for one with other locks", n)
	}
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := request().Install(t.Context()); err != nil {
		t.Errorf("after the packages of the others are gone: %v", err)
	}
	if n := archives(); n != 1 {
		t.Errorf("%d archives are fetched, and the packages of the first one are gone", n)
	}
}

func TestErrorsOfAll(t *testing.T) {
	s := newSetup(t)
	s.req.Requirements[s.bar] = []string{"> 5"}
	s.req.Requirements[provider(t, s.Host+"/foo/absent")] = nil
	_, err := s.req.Install(t.Context())
	for _, want := range []string{"foo/absent", "none of the versions that there are satisfies > 5.0.0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Install fails with %v, want %q in it", err, want)
		}
	}
}

// TestTerraformLocksTheSame compares the lock file with the one that terraform writes.
func TestTerraformLocksTheSame(t *testing.T) {
	binary := testenv.Terraform(t)
	mirror := testenv.FakeProviderMirror(t)
	packages, err := packagecache.Dir{Path: mirror, Platform: release.CurrentPlatform}.Packages()
	if err != nil || len(packages) == 0 {
		t.Fatalf("%d packages in the mirror, %v", len(packages), err)
	}
	one := packages[0].Provider
	dir := t.TempDir()
	main := fmt.Sprintf("terraform {\n  required_providers {\n"+
		"    a = {\n      source  = %q\n      version = \">= 0.0.1, != 0.0.2\"\n    }\n  }\n}\n", one)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, binary, "init", "-no-color")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, mirror))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, locks.FileName))
	if err != nil {
		t.Fatal(err)
	}
	req := &selection.Request{
		Requirements: map[stackaddrs.Provider][]string{one: {"!= 0.0.2", ">= 0.0.1"}},
		Locks:        &locks.Locks{},
		Sources:      func(stackaddrs.Provider) source.Source { return source.Directory{Path: mirror} },
		Dir:          packagecache.Dir{Path: t.TempDir(), Platform: release.CurrentPlatform},
	}
	selected, err := req.Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(locks.Format(selected)); got != string(want) {
		t.Errorf("got\n%s\nterraform writes\n%s", got, want)
	}
}

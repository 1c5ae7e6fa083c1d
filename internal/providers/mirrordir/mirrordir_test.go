// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package mirrordir_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/mirrordir"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// setup is a registry with two providers, and a request for them.
type setup struct {
	*registrytest.Server
	host string // a CLI configuration by which it is example.com
	bar  stackaddrs.Provider
	req  *mirrordir.Request
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s := &setup{Server: registrytest.Start(t)}
	s.host = fmt.Sprintf("host \"example.com\" {\n  services = { \"providers.v1\" = \"https://%s/providers/\" }\n}\n", s.Host)
	config := filepath.Join(t.TempDir(), "cairn.tfrc")
	if err := os.WriteFile(config, []byte(s.host), 0o600); err != nil {
		t.Fatal(err)
	}
	client := s.Registries([]string{"TF_CLI_CONFIG_FILE=" + config})
	s.req = &mirrordir.Request{
		Requirements: map[stackaddrs.Provider][]string{},
		Platforms:    []release.Platform{{OS: "linux", Arch: "amd64"}},
		Sources:      func(stackaddrs.Provider) source.Source { return source.Registry{Client: client} },
		Dir:          filepath.Join(t.TempDir(), "new", "mirror"),
	}
	for name, versions := range map[string][]string{"bar": {"1.0.0", "1.1.0"}, "baz": {"2.0.0"}} {
		for _, version := range versions {
			archives := map[string][]byte{}
			for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
				archives[platform] = registrytest.Zip(t, registrytest.File{Name: "terraform-provider-" + name + "_v" + version, Content: platform})
			}
			s.Publish(t, registrytest.Release{Namespace: "foo", Type: name, Version: version, Archives: archives})
		}
		p, err := release.ParseProvider("example.com/foo/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.req.Requirements[p] = nil
		if name == "bar" {
			s.bar = p
		}
	}
	return s
}

// contents returns the files of a mirror, with the checksums of those that are not JSON.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := filepath.Join(dir, path)
		text, err := os.ReadFile(name)
		if !strings.HasSuffix(path, ".json") {
			hash, hashErr := release.HashArchive(name)
			if hashErr != nil {
				return hashErr
			}
			text = []byte(hash)
		}
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAsTerraform compares with the results of "terraform providers mirror" in directories where
// some of the files are already, and has terraform and this program install from them.
func TestAsTerraform(t *testing.T) {
	binary := testenv.Terraform(t)
	s := newSetup(t)
	work, want := t.TempDir(), filepath.Join(t.TempDir(), "mirror")
	config := filepath.Join(work, "user.tfrc")
	run := func(args ...string) {
		t.Helper()
		cmd := testenv.Command(t, binary, args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+config, "SSL_CERT_FILE="+s.CAFile(t))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, s.host)
	main := "terraform {\n  required_providers {\n    bar = {\n      source = %q\n      version = %q\n" +
		"    }\n    baz = {\n      source = %q\n    }\n  }\n}\n"
	for _, step := range []struct {
		constraint, platform string
	}{{"1.0.0", "linux_amd64"}, {"1.0.0", "darwin_arm64"}, {">= 1.0", "linux_amd64"}} {
		write(filepath.Join(work, "main.tf"), fmt.Sprintf(main, "example.com/foo/bar", step.constraint, "example.com/foo/baz"))
		run("providers", "mirror", "-no-color", "-platform="+step.platform, want)
		platform, err := release.ParsePlatform(step.platform)
		if err != nil {
			t.Fatal(err)
		}
		s.req.Requirements[s.bar], s.req.Platforms = []string{step.constraint}, []release.Platform{platform}
		if _, err := s.req.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(contents(t, want), contents(t, s.req.Dir)); diff != "" {
			t.Fatalf("-terraform, +cairn:\n%s", diff)
		}
	}

	write(config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", s.req.Dir))
	run("init", "-no-color")
	byDirectory, err := os.ReadFile(filepath.Join(work, locks.FileName))
	if err != nil {
		t.Fatal(err)
	}
	address := s.Mirror(t, s.req.Dir)
	write(config, fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", address))
	if err := os.RemoveAll(filepath.Join(work, ".terraform")); err != nil {
		t.Fatal(err)
	}
	run("init", "-no-color", "-lockfile=readonly")
	network, err := source.NewNetwork(s.Registries(nil), address)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []source.Source{source.Directory{Path: s.req.Dir}, network} {
		install := &selection.Request{
			Requirements: s.req.Requirements, Locks: &locks.Locks{}, Sources: func(stackaddrs.Provider) source.Source { return from },
			Dir: packagecache.Dir{Path: t.TempDir(), Platform: release.Platform{OS: "linux", Arch: "amd64"}},
		}
		locked, err := install.Install(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(locks.Format(locked)); got != string(byDirectory) {
			t.Errorf("from %T, locked is\n%s\nterraform locks\n%s", from, got, byDirectory)
		}
	}
}

func TestLockedVersions(t *testing.T) {
	s := newSetup(t)
	s.req.Locks = &locks.Locks{}
	if _, err := s.req.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "not in the lock file") {
		t.Errorf("without what is locked: %v", err)
	}
	version, err := release.ParseVersion("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	s.req.Locks.Set(locks.Lock{Provider: s.bar, Version: version})
	s.req.Requirements = map[stackaddrs.Provider][]string{s.bar: nil}
	mirrored, err := s.req.Write(t.Context())
	if err != nil || len(mirrored) != 1 || !strings.HasSuffix(mirrored[0].File, "/foo/bar/terraform-provider-bar_1.0.0_linux_amd64.zip") {
		t.Errorf("mirrored is %v, %v", mirrored, err)
	}
}

// A package that is there is not fetched again, unless it differs from that of the registry.
func TestAgain(t *testing.T) {
	s := newSetup(t)
	mirrored, err := s.req.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, s.req.Dir)
	downloads := func() (paths []string) {
		if _, err := s.req.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(s.Requests(""), func(path string) bool { return !strings.HasSuffix(path, ".zip") })
	}
	s.Requests("")
	if made := downloads(); len(made) > 0 {
		t.Errorf("%q were fetched again", made)
	}
	if err := os.WriteFile(filepath.Join(s.req.Dir, mirrored[0].File), []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if made := downloads(); len(made) != 1 {
		t.Errorf("fetched is %q, want what was damaged", made)
	}
	if diff := cmp.Diff(before, contents(t, s.req.Dir)); diff != "" {
		t.Error(diff)
	}
}

// A package that cannot be had keeps no other from being mirrored.
func TestErrors(t *testing.T) {
	s := newSetup(t)
	s.req.Platforms = append(s.req.Platforms, release.Platform{OS: "plan9", Arch: "arm"})
	s.Answer("/files/terraform-provider-baz_2.0.0_linux_amd64.zip", "something else")
	mirrored, err := s.req.Write(t.Context())
	for _, want := range []string{"plan9_arm", "none of the checksums"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Write fails with %v, want %q in it", err, want)
		}
	}
	if len(mirrored) != 1 {
		t.Errorf("mirrored is %v", mirrored)
	}
	want := []string{
		"example.com/foo/bar/1.1.0.json",
		"example.com/foo/bar/index.json",
		"example.com/foo/bar/terraform-provider-bar_1.1.0_linux_amd64.zip",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(contents(t, s.req.Dir)))); diff != "" {
		t.Errorf("the mirror (-want +got):\n%s", diff)
	}
}

// For packages that cannot be mirrored, no directory is made.
func TestNothingMirrored(t *testing.T) {
	s := newSetup(t)
	s.req.Platforms = []release.Platform{{OS: "plan9", Arch: "arm"}}
	if mirrored, err := s.req.Write(t.Context()); err == nil || len(mirrored) > 0 {
		t.Errorf("mirrored is %v, %v", mirrored, err)
	}
	if _, err := os.Stat(s.req.Dir); !os.IsNotExist(err) {
		t.Errorf("the directory is there: %v", err)
	}
}

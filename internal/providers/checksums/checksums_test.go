// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package checksums_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairnstacks/cairn/internal/providers/checksums"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
)

var (
	linux  = release.Platform{OS: "linux", Arch: "amd64"}
	darwin = release.Platform{OS: "darwin", Arch: "arm64"}
)

// setup is a registry with two providers, one of them in two versions, and a request for both.
type setup struct {
	*registrytest.Server
	bar, baz stackaddrs.Provider
	req      *checksums.Request
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s := &setup{Server: registrytest.Start(t)}
	for name, versions := range map[string][]string{"bar": {"1.0.0", "1.1.0"}, "baz": {"2.0.0"}} {
		for _, version := range versions {
			archives := map[string][]byte{}
			for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
				archives[platform] = registrytest.Zip(t, registrytest.File{Name: "terraform-provider-" + name + "_v" + version, Content: platform})
			}
			s.Publish(t, registrytest.Release{Namespace: "foo", Type: name, Version: version, Archives: archives})
		}
	}
	s.bar, s.baz = s.provider(t, "bar"), s.provider(t, "baz")
	client := s.Registries(nil)
	s.req = &checksums.Request{
		Requirements: map[stackaddrs.Provider][]string{s.bar: {"~> 1.0"}, s.baz: nil},
		Locks:        &locks.Locks{}, Platforms: []release.Platform{linux},
		Sources: func(stackaddrs.Provider) source.Source { return source.Registry{Client: client} },
	}
	return s
}

func (s *setup) provider(t *testing.T, name string) stackaddrs.Provider {
	t.Helper()
	p, err := release.ParseProvider(s.Host + "/foo/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// before makes a lock file with earlier locks: bar in an old version with the checksum of another
// platform, and a provider that nothing requires.
func (s *setup) before(t *testing.T) string {
	t.Helper()
	text := fmt.Sprintf(`provider "%[1]s/foo/bar" {
  version     = "1.0.0"
  constraints = ">= 0.9.0"
  hashes = [
    "h1:E2+GIvLhJCvjbc8DwBaAJkps4wS/cq367CNFjPRcXk0=",
  ]
}

provider "%[1]s/foo/other" {
  version = "2.0.0"
}
`, s.Host)
	parsed, diags := locks.Parse([]byte(text), locks.FileName)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s.req.Locks = parsed
	return text
}

func (s *setup) lock(t *testing.T) (string, []string) {
	t.Helper()
	locked, found, err := s.req.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, one := range found {
		lines = append(lines, fmt.Sprintf("%s %s %s %t/%t", one.Provider.Type, one.Version, one.Platform, one.New, one.Added))
	}
	return string(locks.Format(locked)), lines
}

func TestLock(t *testing.T) {
	s := newSetup(t)
	s.req.Platforms = []release.Platform{linux, darwin, linux}
	var fetched atomic.Int64
	s.req.Observe = func(event selection.Event) {
		if event.Stage == selection.Fetched && event.Signed != nil {
			fetched.Add(1)
		}
	}
	text, found := s.lock(t)
	want := []string{
		"bar 1.1.0 darwin_arm64 true/true",
		"bar 1.1.0 linux_amd64 true/true",
		"baz 2.0.0 darwin_arm64 true/true",
		"baz 2.0.0 linux_amd64 true/true",
	}
	if !slices.Equal(found, want) || fetched.Load() != 4 {
		t.Errorf("found is %q, fetched are %d packages", found, fetched.Load())
	}
	if n := strings.Count(text, `"h1:`); n != 4 {
		t.Errorf("%d packages are locked:\n%s", n, text)
	}
	parsed, diags := locks.Parse([]byte(text), locks.FileName)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s.req.Locks = parsed
	again, found := s.lock(t)
	if again != text || slices.ContainsFunc(found, func(line string) bool { return !strings.HasSuffix(line, "false/false") }) {
		t.Errorf("once more, found is %q, and locked is\n%s", found, again)
	}
}

func TestErrorsOfAll(t *testing.T) {
	s := newSetup(t)
	s.req.Platforms = []release.Platform{{OS: "plan9", Arch: "arm"}}
	_, _, err := s.req.Lock(t.Context())
	for _, want := range []string{"foo/bar", "foo/baz", "plan9"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Lock fails with %v, want %q in it", err, want)
		}
	}
	s.before(t)
	s.req.Requirements[s.bar] = []string{"> 1.0.0"}
	if _, _, err := s.req.Lock(t.Context()); err == nil || !strings.Contains(err.Error(), "version 1.0.0 is locked") {
		t.Errorf("a locked version that does not fit: %v", err)
	}
}

// TestAsTerraform compares with the lock file that "terraform providers lock" writes.
func TestAsTerraform(t *testing.T) {
	binary := testenv.Terraform(t)
	s := newSetup(t)
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("user.tfrc", "")
	write("main.tf", fmt.Sprintf(`terraform {
  required_providers {
    bar = {
      source  = "%[1]s/foo/bar"
      version = "~> 1.0"
    }
    baz = {
      source = "%[1]s/foo/baz"
    }
  }
}
`, s.Host))
	unpacked := registrytest.MirrorDir(t, s.Host+"/foo/bar", map[string][]string{
		"1.0.1": {"linux_amd64"},
		"1.1.1": {"linux_amd64", "darwin_arm64"},
	})
	for name, test := range map[string]struct {
		before bool
		only   bool
		mirror string
		args   []string
	}{
		"new":               {args: []string{"-platform=linux_amd64", "-platform=darwin_arm64"}},
		"locked before":     {before: true, args: []string{"-platform=darwin_arm64"}},
		"one of them":       {before: true, only: true, args: []string{"-platform=linux_amd64", s.bar.String()}},
		"from a directory":  {only: true, mirror: unpacked, args: []string{"-platform=linux_amd64", "-fs-mirror=" + unpacked, s.bar.String()}},
		"of other platform": {only: true, mirror: unpacked, args: []string{"-platform=darwin_arm64", "-fs-mirror=" + unpacked, s.bar.String()}},
	} {
		t.Run(name, func(t *testing.T) {
			s.req.Locks, s.req.Platforms = &locks.Locks{}, nil
			if err := os.RemoveAll(filepath.Join(dir, locks.FileName)); err != nil {
				t.Fatal(err)
			}
			if test.before {
				write(locks.FileName, s.before(t))
			}
			cmd := testenv.Command(t, binary, append([]string{"providers", "lock", "-no-color"}, test.args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "user.tfrc"),
				"SSL_CERT_FILE="+s.CAFile(t))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want, err := os.ReadFile(filepath.Join(dir, locks.FileName))
			if err != nil {
				t.Fatal(err)
			}
			for _, arg := range test.args {
				if text, ok := strings.CutPrefix(arg, "-platform="); ok {
					platform, err := release.ParsePlatform(text)
					if err != nil {
						t.Fatal(err)
					}
					s.req.Platforms = append(s.req.Platforms, platform)
				}
			}
			req := *s.req
			if test.only {
				req.Requirements = map[stackaddrs.Provider][]string{s.bar: s.req.Requirements[s.bar]}
			}
			if test.mirror != "" {
				req.Sources = func(stackaddrs.Provider) source.Source { return source.Directory{Path: test.mirror} }
			}
			locked, _, err := req.Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := string(locks.Format(locked)); got != string(want) {
				t.Errorf("got\n%s\nterraform writes\n%s", got, want)
			}
		})
	}
}

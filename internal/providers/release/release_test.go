// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package release_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/unpack"
)

func TestParseProvider(t *testing.T) {
	for text, want := range map[string]string{
		"time":                           "registry.terraform.io/hashicorp/time",
		"hashicorp/time":                 "registry.terraform.io/hashicorp/time",
		"Example.com/Foo/Bar":            "example.com/foo/bar",
		"terraform.io/builtin/terraform": "terraform.io/builtin/terraform",
		"example.com:8443/foo/bar":       "example.com:8443/foo/bar",
		"":                               "", "a//b": "", "a/b/c/d": "", "-/time": "", "../a/b": "", "hashicorp/terraform-provider-time": "",
	} {
		got, err := release.ParseProvider(text)
		if want == "" {
			if err == nil {
				t.Errorf("%q: got %s, want an error", text, got)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v; want %s", text, got, err, want)
		}
		if again, err := release.ParseProvider(release.Short(got)); err != nil || again != got {
			t.Errorf("%q: its short form %q is %s, %v", text, release.Short(got), again, err)
		}
	}
}

// An archive has the hash of the files in it.
func TestHashContent(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "x.zip")
	content := registrytest.Zip(t, registrytest.File{Name: "b", Content: "1"}, registrytest.File{Name: "a/c", Content: "2"})
	if err := os.WriteFile(archive, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := unpack.Zip(t.Context(), archive, dir, unpack.Limits{}); err != nil {
		t.Fatal(err)
	}
	testenv.Symlink(t, dir, link)
	want, err := release.HashContent(archive)
	if err != nil || want.Scheme() != release.ContentScheme {
		t.Fatal(want, err)
	}
	for _, path := range []string{dir, link} {
		if got, err := release.HashContent(path); err != nil || got != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	if got, err := release.HashArchive(archive); err != nil || got.Scheme() != release.ArchiveScheme {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := release.HashContent(filepath.Join(dir, "b")); err == nil {
		t.Error("what is no archive has a hash")
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sources_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/go-slug/sourcebundle"

	"github.com/cairnstacks/cairn/internal/rpcapi/sources"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

const manifest = `{
  "terraform_source_bundle": 1,
  "packages": [
    {"source": "git::https://example.com/stacks.git", "local": "stacks", "meta": {}},
    {"source": "git::https://example.com/modules.git?ref=v1", "local": "modules", "meta": {}},
    {"source": "https://example.com/archive.tgz", "local": "archive", "meta": {}}
  ],
  "registry": [
    {"source": "example.com/acme/net/aws", "versions": {
      "1.0.0": {"source": "https://example.com/archive.tgz"},
      "1.2.3": {"source": "git::https://example.com/modules.git//net?ref=v1"},
      "2.0.0-beta": {"source": "https://example.com/archive.tgz"}
    }}
  ],
  "components": [
    {"source": "example.com/acme/base", "versions": {"0.1.0": {"source": "git::https://example.com/stacks.git//base"}}}
  ]
}`

// newResolver returns a resolver for a stack in a bundle with the manifest above.
func newResolver(t *testing.T, root string) (resolver *sources.Resolver, bundleDir string) {
	t.Helper()
	bundleDir = filepath.Join(t.TempDir(), "bundle")
	for _, dir := range []string{"stacks/base", "stacks/app", "modules/net/deep", "archive"} {
		if err := os.MkdirAll(filepath.Join(bundleDir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bundleDir, "terraform-sources.json"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := sourcebundle.OpenDir(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	source, err := sourceaddrs.ParseFinalSource(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := bundle.LocalPathForSource(source)
	if err != nil {
		t.Fatal(err)
	}
	resolver, err = sources.New(bundle, source, dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolver, bundleDir
}

func TestResolve(t *testing.T) {
	resolver, dir := newResolver(t, "git::https://example.com/stacks.git//app")
	type found struct{ Dir, Version, Problem string }
	cases := map[string]struct {
		source, constraint string
		want               found
	}{
		"remote":  {"git::https://example.com/modules.git//net?ref=v1", "", found{Dir: "modules/net"}},
		"archive": {"https://example.com/archive.tgz", "", found{Dir: "archive"}},
		"other ref": {
			"git::https://example.com/modules.git//net?ref=v2",
			"",
			found{Problem: "does not have git::https://example.com/modules.git?ref=v2"},
		},
		"newest":           {"example.com/acme/net/aws", "", found{Dir: "modules/net", Version: "1.2.3"}},
		"constrained":      {"example.com/acme/net/aws//x", "~> 1.0, < 1.1", found{Dir: "archive/x", Version: "1.0.0"}},
		"below":            {"example.com/acme/net/aws//deep", "1.2.3", found{Dir: "modules/net/deep", Version: "1.2.3"}},
		"pre-release":      {"example.com/acme/net/aws", "2.0.0-beta", found{Dir: "archive", Version: "2.0.0-beta"}},
		"no such version":  {"example.com/acme/net/aws", "> 2", found{Problem: `a version of example.com/acme/net/aws that satisfies "> 2"`}},
		"bad constraint":   {"example.com/acme/net/aws", "often", found{Problem: `the version constraint "often" cannot be read`}},
		"unknown registry": {"example.com/acme/other/aws", "", found{Problem: "does not have example.com/acme/other/aws"}},
		"component":        {"example.com/acme/base", "0.1.0", found{Dir: "stacks/base", Version: "0.1.0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			source, err := stackconfig.ParseSource(c.source)
			if err != nil {
				t.Fatal(err)
			}
			resolved, err := resolver.Resolve(source, c.constraint)
			switch {
			case err != nil && (c.want.Problem == "" || !strings.Contains(err.Error(), c.want.Problem)):
				t.Errorf("Resolve(%q) fails with %q, want %q", c.source, err, c.want.Problem)
			case err != nil && name != "bad constraint" && !errors.Is(err, stackconfig.ErrNotPrepared):
				t.Errorf("the error %q is not that of a source which is not prepared", err)
			case err == nil:
				rel, _ := filepath.Rel(dir, resolved.Dir)
				if diff := cmp.Diff(c.want, found{Dir: filepath.ToSlash(rel), Version: resolved.Version}); diff != "" {
					t.Errorf("Resolve(%q) (-want +got):\n%s", c.source, diff)
				}
			}
		})
	}
}

// TestLocate checks the addresses of files and the way back.
func TestLocate(t *testing.T) {
	resolver, dir := newResolver(t, "git::https://example.com/stacks.git//app")
	if _, ok := resolver.Locate(filepath.Join(dir, "other", "x.tf")); ok {
		t.Error("a file that is in no package has an address")
	}
	want := map[string]string{
		"stacks/app/a.tfcomponent.hcl": "git::https://example.com/stacks.git//app/a.tfcomponent.hcl",
		"stacks":                       "git::https://example.com/stacks.git",
		"modules/net/main.tf":          "git::https://example.com/modules.git//net/main.tf?ref=v1",
		"archive/main.tf":              "https://example.com/archive.tgz//main.tf",
	}
	checkAddresses(t, resolver, dir, want)

	for _, reached := range []string{"example.com/acme/net/aws", "example.com/acme/base"} {
		source, err := stackconfig.ParseSource(reached)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resolver.Resolve(source, ""); err != nil {
			t.Fatal(err)
		}
	}
	want["modules/net/main.tf"] = "example.com/acme/net/aws@1.2.3//main.tf"
	want["modules/net/deep/x.tf"] = "example.com/acme/net/aws@1.2.3//deep/x.tf"
	want["modules/other.tf"] = "git::https://example.com/modules.git//other.tf?ref=v1"
	want["stacks/base/x"] = "example.com/acme/base@0.1.0//x"
	checkAddresses(t, resolver, dir, want)
}

func checkAddresses(t *testing.T, resolver *sources.Resolver, dir string, want map[string]string) {
	t.Helper()
	for _, file := range slices.Sorted(maps.Keys(want)) {
		path := filepath.Join(dir, filepath.FromSlash(file))
		place, ok := resolver.Locate(path)
		if !ok || place.Address != want[file] {
			t.Errorf("Locate(%s) is %q, want %q", file, place.Address, want[file])
		}
		if first, _, _ := strings.Cut(file, "/"); place.Package != filepath.Join(dir, first) {
			t.Errorf("Locate(%s) is in package %s", file, place.Package)
		}
		if back, ok := resolver.Path(place.Address); !ok || back != path {
			t.Errorf("Path(%q) is %q, %v, want %q", place.Address, back, ok, path)
		}
		if got := resolver.Name(place.Address); got != place.Address {
			t.Errorf("Name(%q) is %q", place.Address, got)
		}
	}
}

// TestRootInRegistry checks that a root stack that was opened by an address of a registry has it in
// the names of its files.
func TestRootInRegistry(t *testing.T) {
	resolver, dir := newResolver(t, "example.com/acme/net/aws@1.2.3//deep")
	place, _ := resolver.Locate(filepath.Join(dir, "modules", "net", "deep", "main.tfcomponent.hcl"))
	if want := "example.com/acme/net/aws@1.2.3//deep/main.tfcomponent.hcl"; place.Address != want {
		t.Errorf("the file is called %q, want %q", place.Address, want)
	}
}

func TestNameOfLocalFiles(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(parent)
	for _, dir := range []string{"stack/inner", "module"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, dir := newResolver(t, "git::https://example.com/stacks.git")
	bundle, err := sourcebundle.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	source, err := sourceaddrs.ParseFinalSource("./stack")
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := sources.New(bundle, source, "stack")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"inner/main.tf":     "./stack/inner/main.tf",
		"../module/main.tf": "./module/main.tf",
		"missing.tf":        "missing.tf",
		"<console>":         "<console>",
		"":                  "",
		"git::https://example.com/stacks.git//main.tf": "git::https://example.com/stacks.git//main.tf",
	} {
		if got := resolver.Name(name); got != want {
			t.Errorf("Name(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestFollow(t *testing.T) {
	resolver, _ := newResolver(t, "git::https://example.com/stacks.git//app")
	for written, want := range map[string]string{
		"./x":                              "git::https://example.com/stacks.git//app/x",
		"../base":                          "git::https://example.com/stacks.git//base",
		"https://example.com/archive.tgz":  "https://example.com/archive.tgz",
		"example.com/acme/net/aws//deep":   "example.com/acme/net/aws@1.2.3//deep",
		"example.com/acme/base":            "example.com/acme/base@0.1.0",
		"../../elsewhere":                  "",
		"example.com/acme/none/aws":        "",
		"not an address, not even nearly ": "",
	} {
		got := ""
		if final, err := resolver.Follow(resolver.Root(), stackconfig.Source{Written: written}); err == nil {
			got = final.String()
		}
		if got != want {
			t.Errorf("Follow(%q) is %q, want %q", written, got, want)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackaddrs"
)

func readInstallation(t *testing.T, name, content string, env ...string) (*Installation, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadInstallation(append(env, "TF_CLI_CONFIG_FILE="+path), "/stack", "")
}

func TestInstallation(t *testing.T) {
	const native = `
plugin_cache_dir = "cache"
plugin_cache_may_break_dependency_lock_file = true
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/null-provider"
    "example.com/a/b" = "build"
  }
  filesystem_mirror {
    path    = "mirror"
    include = ["example.com/*/*"]
  }
  network_mirror {
    url     = "https://mirror.example.com/"
    exclude = ["hashicorp/aws"]
  }
  direct {}
}
credentials "example.com" { token = "t" }
`
	const asJSON = `{"plugin_cache_dir": "cache", "plugin_cache_may_break_dependency_lock_file": true, "provider_installation": [{
  "dev_overrides": [{"hashicorp/null": "/dev/null-provider", "example.com/a/b": "build"}],
  "filesystem_mirror": [{"path": "mirror", "include": ["example.com/*/*"]}],
  "network_mirror": [{"url": "https://mirror.example.com/", "exclude": ["hashicorp/aws"]}],
  "direct": [{}]
}]}`
	want := &Installation{
		Methods: []Method{
			{Directory: "/stack/mirror", include: []string{"example.com/*/*"}},
			{Network: "https://mirror.example.com/", exclude: []string{"hashicorp/aws"}},
			{},
		},
		Explicit: true,
		Overrides: map[stackaddrs.Provider]string{
			{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"}: "/dev/null-provider",
			{Hostname: "example.com", Namespace: "a", Type: "b"}:                      "/stack/build",
		},
		CacheDir: "/stack/cache", CacheUnlocked: true,
	}
	for name, content := range map[string]string{"a.tfrc": native, "a.tfrc.json": asJSON} {
		got, err := readInstallation(t, name, content)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Method{}), cmpopts.IgnoreFields(Method{}, "registry"),
			cmpopts.IgnoreUnexported(Installation{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Tofu has a file of its own, which stands in for that of terraform, and addresses without a host
// are in its own registry.
func TestInstallationOfTofu(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "APPDATA=" + home}
	_, main, dir := homeNames(env)
	put := func(name, content string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700),
			os.WriteFile(filepath.Join(home, name), []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(main, "plugin_cache_dir = \"/of-terraform\"\n")
	put(filepath.Join(dir, "credentials.tfrc.json"), `{"credentials": {"example.com": {"token": "login"}}}`)
	if in, err := ReadInstallation(env, "/stack", toolchain.Tofu); err != nil || in.CacheDir != "/of-terraform" {
		t.Errorf("without a file of its own: %+v, %v", in, err)
	}
	put(filepath.Base(tofuFile(env)), `plugin_cache_dir = "/of-tofu"
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/null"
    "registry.terraform.io/hashicorp/time" = "/time"
  }
  direct {
    include = ["hashicorp/*"]
  }
}
`)
	in, err := ReadInstallation(env, "/stack", toolchain.Tofu)
	if err != nil || in.CacheDir != "/of-tofu" {
		t.Fatalf("%+v, %v", in, err)
	}
	ours, terraforms := stackaddrs.Provider{Hostname: toolchain.TofuRegistry, Namespace: "hashicorp", Type: "null"},
		stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "time"}
	if len(in.Overrides) != 2 || in.Overrides[ours] != "/null" || in.Overrides[terraforms] != "/time" {
		t.Errorf("overrides: %v", in.Overrides)
	}
	if !in.Methods[0].Allows(ours) || in.Methods[0].Allows(terraforms) {
		t.Errorf("%+v", in.Methods)
	}
	if hosts, err := ReadHosts(ForTofu(env)); err != nil || hosts.Tokens["example.com"] != "login" {
		t.Errorf("tokens: %v, %v", hosts, err)
	}
	if in, err := ReadInstallation(env, "/stack", toolchain.Terraform); err != nil || in.CacheDir != "/of-terraform" {
		t.Errorf("of terraform: %+v, %v", in, err)
	}
}

func TestHostsBesideOverrides(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tfrc")
	content := "provider_installation {\n  dev_overrides {\n    \"a/b\" = \"/x\"\n  }\n  direct {}\n}\n" +
		"credentials \"example.com\" {\n  token = \"t\"\n}\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts, err := ReadHosts([]string{"TF_CLI_CONFIG_FILE=" + path})
	if err != nil || hosts.Tokens["example.com"] != "t" {
		t.Errorf("ReadHosts = %v, %v", hosts, err)
	}
}

func TestInstallationWithoutConfiguration(t *testing.T) {
	home := t.TempDir()
	plugins := filepath.Join(home, ".terraform.d", "plugins")
	if err := os.MkdirAll(plugins, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := readInstallation(t, "a.tfrc", "", "HOME="+home, "XDG_DATA_DIRS=/nowhere", "TF_PLUGIN_CACHE_DIR=kept")
	want := &Installation{Methods: []Method{{Directory: plugins}, {}}, CacheDir: "/stack/kept"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Method{}), cmpopts.IgnoreFields(Method{}, "registry"),
		cmpopts.IgnoreUnexported(Installation{}), cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestInvalidInstallations(t *testing.T) {
	for content, want := range map[string]string{
		"provider_installation {\n  direct {\n    path = \"x\"\n  }\n}":               "has no argument path",
		"provider_installation {\n  filesystem_mirror {}\n}":                          "does not say where",
		"provider_installation {}\nprovider_installation {}":                          "more than one",
		"provider_installation {\n  direct {\n    include = \"x\"\n  }\n}":            "not a list",
		"provider_installation {\n  dev_overrides {\n    \"a/b/c/d\" = \"x\"\n  }\n}": "dev_overrides",
		"plugin_cache_dir = 1":                                         "not a text",
		"provider_installation {\n  other {}\n}":                       "other",
		"provider_installation {\n  oci_mirror {}\n}":                  "an oci_mirror",
		"provider_installation {\n  dev_overrides {\n    \"a/b\" = \n": "",
	} {
		if got, err := readInstallation(t, "a.tfrc", content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadInstallation of %q = %+v, %v, want an error with %q", content, got, err, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	aws := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "aws"}
	own := stackaddrs.Provider{Hostname: "example.com", Namespace: "a", Type: "aws"}
	for pattern, want := range map[string][2]bool{
		"aws": {true, false}, "hashicorp/aws": {true, false}, "hashicorp/*": {true, false}, "*/*": {true, false}, "*/*/*": {true, true},
		"example.com/*/*": {false, true}, "example.com/a/aws": {false, true}, "example.com/a/b": {false, false}, "other/*": {false, false},
	} {
		method := Method{include: []string{pattern}, registry: aws.Hostname}
		if got := [2]bool{method.Allows(aws), method.Allows(own)}; got != want {
			t.Errorf("%s allows %v, want %v", pattern, got, want)
		}
		without := Method{exclude: []string{pattern}, registry: aws.Hostname}
		if got := [2]bool{!without.Allows(aws), !without.Allows(own)}; got != want {
			t.Errorf("%s excludes %v, want %v", pattern, got, want)
		}
	}
}

// FuzzRead checks that any configuration is read or refused, and that no token in quotes is in the
// messages about it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`provider_installation { filesystem_mirror { path = "x" include = ["a/*"] } network_mirror { url = "https://x/" } direct { exclude = ["*/*/*"] } }`,
		`provider_installation { dev_overrides { "a/b" = "c" } direct {} }`, `credentials "example.com" { token = "open-sesame" }`,
		`host "x.com" { services = { "providers.v1" = "/x" } }`,
		`plugin_cache_dir = "$HOME/x"`, `credentials_helper "x" { args = ["a", 1] }`, `credentials "example.com" { token = "open-sesame" + }`,
	} {
		f.Add(seed, false)
	}
	f.Add(`{"provider_installation": [{"direct": [{}], "dev_overrides": {"a/b": "c"}}], "credentials": {"example.com": {"token": "open-sesame"}}}`, true)
	f.Fuzz(func(t *testing.T, text string, inJSON bool) {
		dir := t.TempDir()
		name := filepath.Join(dir, "cli.tfrc")
		if inJSON {
			name += ".json"
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		environ := []string{"TF_CLI_CONFIG_FILE=" + name, "HOME=" + dir}
		installation, err := ReadInstallation(environ, dir, "")
		if err == nil {
			for _, method := range installation.Methods {
				method.Allows(stackaddrs.Provider{Hostname: "a", Namespace: "b", Type: "c"})
			}
		}
		_, hostsErr := ReadHosts(environ)
		for _, err := range []error{err, hostsErr} {
			secret := strings.Count(text, `"open-sesame"`) == strings.Count(text, "open-sesame") // in quotes, as tokens are
			if err != nil && secret && strings.Contains(err.Error(), "open-sesame") {
				t.Errorf("a token is in the error %v", err)
			}
		}
	})
}

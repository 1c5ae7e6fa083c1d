// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	svchost "github.com/hashicorp/terraform-svchost"
)

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHosts(t *testing.T) {
	home := t.TempDir()
	variable := "HOME="
	main, dir := ".terraformrc", ".terraform.d"
	if runtime.GOOS == "windows" {
		variable, main, dir = "APPDATA=", "terraform.rc", "terraform.d"
	}
	writeFile(t, filepath.Join(home, main), `
plugin_cache_dir = "/x"
provider_installation {
  direct {}
}
credentials "one.example.com" { token = "main" }
credentials "two.example.com" { token = "main" }
host "three.example.com" {
  services = { "modules.v1" = "https://elsewhere.example.com/m" }
}`)
	writeFile(t, filepath.Join(home, dir, "credentials.tfrc.json"), `{"credentials": {"two.example.com": {"token": "login"}}}`)
	override := writeFile(t, filepath.Join(home, "other.tfrc"), `credentials "one.example.com" { token = "other" }`)
	for name, test := range map[string]struct {
		environ []string
		want    map[string]string
	}{
		"files": {nil, map[string]string{"one.example.com": "main", "two.example.com": "login"}},
		"override": {
			[]string{"TF_CLI_CONFIG_FILE=" + override},
			map[string]string{"one.example.com": "other", "two.example.com": ""},
		},
		"older name": {[]string{"TERRAFORM_CONFIG=" + override}, map[string]string{"one.example.com": "other"}},
		"environment": {
			[]string{"TF_TOKEN_one_example_com=env", "TF_TOKEN_my__host_example_com=dash", "TF_TOKEN_two_example_com="},
			map[string]string{"one.example.com": "env", "my-host.example.com": "dash", "two.example.com": "login"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := ReadHosts(append([]string{variable + home}, test.environ...))
			if err != nil {
				t.Fatal(err)
			}
			for host, want := range test.want {
				if got := config.Tokens[svchost.Hostname(host)]; got != want {
					t.Errorf("%s: got token %q, want %q", host, got, want)
				}
			}
			if test.environ == nil && config.Services["three.example.com"]["modules.v1"] != "https://elsewhere.example.com/m" {
				t.Errorf("got services %v", config.Services)
			}
		})
	}
}

// A cache of providers in the configuration of the engine is seen, wherever that is, unless it is
// commented out.
func TestSharesProviders(t *testing.T) {
	home := t.TempDir()
	environ := []string{"HOME=" + home, "APPDATA=" + home}
	if SharesProviders(environ) {
		t.Error("a cache is seen without any configuration")
	}
	file := filepath.Join(home, "other.tfrc")
	for content, want := range map[string]bool{
		"disable_checkpoint = true\n":                       false,
		"# plugin_cache_dir = \"x\"\n":                      false,
		"a = 1\n  plugin_cache_dir   = \"$HOME/plugins\"\n": true,
		"{\"a\": 1, \"plugin_cache_dir\": \"x\"}\n":         true,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := SharesProviders(append(environ, "TF_CLI_CONFIG_FILE="+file)); got != want {
			t.Errorf("%q: %t, want %t", content, got, want)
		}
	}
	usual := ".terraformrc"
	if runtime.GOOS == "windows" {
		usual = "terraform.rc"
	}
	if err := os.WriteFile(filepath.Join(home, usual), []byte("plugin_cache_dir = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !SharesProviders(environ) {
		t.Errorf("the cache in %s is not seen", usual)
	}
}

func TestContent(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "other.tfrc")
	environ := []string{"HOME=" + home, "APPDATA=" + home, "TF_CLI_CONFIG_FILE=" + file}
	digests := map[string]string{}
	for _, content := range []string{"", "filesystem_mirror {\n  path = \"mirror\"\n}\n", "dev_overrides {\n  \"a/b\" = \"b\"\n}\n"} {
		writeFile(t, file, content)
		got, err := Read(environ)
		if err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if other, known := digests[got.Digest()]; known {
			t.Errorf("%q and %q have the same digest", content, other)
		}
		digests[got.Digest()] = content
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(environ); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

func TestAbsolutePaths(t *testing.T) {
	here := t.TempDir()
	environ := []string{"A=b", "TF_CLI_CONFIG_FILE=x.rc", "TERRAFORM_CONFIG=", "TF_PLUGIN_CACHE_DIR=./cache"}
	got := AbsolutePaths(environ, here)
	want := []string{"A=b", "TF_CLI_CONFIG_FILE=" + filepath.Join(here, "x.rc"), "TERRAFORM_CONFIG=", "TF_PLUGIN_CACHE_DIR=" +
		filepath.Join(here, "cache")}
	if !slices.Equal(got, want) {
		t.Errorf("AbsolutePaths = %q, want %q", got, want)
	}
	if environ[1] != "TF_CLI_CONFIG_FILE=x.rc" {
		t.Error("the environment that was given is changed")
	}
}

func TestNestedFiles(t *testing.T) {
	nested := strings.Repeat("[", 100_000)
	for name, content := range map[string]string{"x.tfrc": "\nx = " + nested, "x.tfrc.json": "{\n\"x\": " + nested} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), content)
		if _, err := ReadHosts([]string{"TF_CLI_CONFIG_FILE=" + path}); err == nil || !strings.Contains(err.Error(), name+":2") {
			t.Errorf("%s: got %v, want an error at line 2", name, err)
		}
	}
}

// A credentials helper is asked for the hosts whose tokens are nowhere else.
func TestHelper(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the helper is a script")
	}
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".terraformrc"), "credentials \"one.example.com\" {\n  token = \"file\"\n}\ncredentials_helper \"x\" "+
		"{\n  args = [\"-v\"]\n}\n")
	program := writeFile(t, filepath.Join(home, ".terraform.d", "plugins", "terraform-credentials-x"), `#!/bin/sh
case "$*" in
"-v get two.example.com") echo '{"token": "helper"}' ;;
"-v get none.example.com") echo '{}' ;;
"-v get odd.example.com") echo 'open-sesame' ;;
*) echo "no such host" >&2; exit 1 ;;
esac
`)
	if err := os.Chmod(program, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	config, err := ReadHosts([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"one.example.com": "file", "two.example.com": "helper", "none.example.com": ""} {
		if got, err := config.Token(t.Context(), svchost.Hostname(host)); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", host, got, err, want)
		}
	}
	for host, want := range map[string]string{"odd.example.com": "not JSON", "other.example.com": "no such host"} {
		if _, err := config.Token(t.Context(), svchost.Hostname(host)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: got %v, want %q", host, err, want)
		}
	}
}

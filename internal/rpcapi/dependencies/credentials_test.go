// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/rpcapi"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

// newHome returns a home directory with the directory of the CLI configuration, and the environment
// for it.
func newHome(t *testing.T, files map[string]string) (dir string, environ []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the names are those of other systems")
	}
	home := writeFiles(t, t.TempDir(), files)
	dir = filepath.Join(home, ".terraform.d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
}

// handshake shakes hands with credentials, and returns the outcome.
func handshake(t *testing.T, environ []string, tokens map[string]string) (err error) {
	t.Helper()
	conn := dial(t, rpcapi.Options{Environ: environ})
	config := &setuppb.Config{Credentials: map[string]*setuppb.HostCredential{}}
	for host, token := range tokens {
		config.Credentials[host] = &setuppb.HostCredential{Token: token}
	}
	_, err = setuppb.NewSetupClient(conn).Handshake(t.Context(), &setuppb.Handshake_Request{Config: config})
	want := codes.OK
	if err != nil {
		want = codes.Unavailable
	}
	_, after := dependenciespb.NewDependenciesClient(conn).GetBuiltInProviders(t.Context(), &dependenciespb.GetBuiltInProviders_Request{})
	wantCode(t, after, want)
	return err
}

// stored returns the tokens in the file.
func stored(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	path := filepath.Join(dir, "credentials.tfrc.json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the file is %v, %v", info.Mode(), err)
	}
	var file struct {
		Credentials map[string]map[string]string `json:"credentials"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	return file.Credentials
}

func TestStoreCredentials(t *testing.T) {
	dir, environ := newHome(t, map[string]string{
		".terraform.d/credentials.tfrc.json": `{"credentials": {"one.example.com": {"token": "old"}, "other.example.com": {"token": "stays"}}}`,
	})
	if err := handshake(t, environ, map[string]string{"ONE.example.com": "new", "two.example.com:8443": "second"}); err != nil {
		t.Fatal(err)
	}
	got := stored(t, dir)
	for host, want := range map[string]string{"one.example.com": "new", "other.example.com": "stays", "two.example.com:8443": "second"} {
		if got[host]["token"] != want {
			t.Errorf("%s has %q, want %q", host, got[host]["token"], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("there are tokens for %d hosts, want 3", len(got))
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

func TestStoreCredentialsFails(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		host  string
		want  string
	}{
		"other file": {
			map[string]string{".terraformrc": "credentials \"one.example.com\" {\n  token = \"x\"\n}\n"},
			"one.example.com",
			".terraformrc",
		},
		"unreadable": {map[string]string{".terraformrc": "credentials {"}, "one.example.com", "cannot be used"},
		"no JSON":    {map[string]string{".terraform.d/credentials.tfrc.json": "[]"}, "one.example.com", "credentials.tfrc.json"},
		"bad host":   {nil, "not a host", "not a host name"},
		"no helper":  {map[string]string{".terraformrc": "credentials_helper \"none\" {\n}\n"}, "one.example.com", "not installed"},
		"bad helper": {map[string]string{".terraformrc": "credentials_helper \"../x\" {\n}\n"}, "one.example.com", "not the name"},
		"helper fails": {map[string]string{
			".terraformrc": "credentials_helper \"x\" {\n}\n",
			".terraform.d/plugins/terraform-credentials-x": "#!/bin/sh\necho locked >&2\nexit 1\n",
		}, "one.example.com", "locked"},
	} {
		t.Run(name, func(t *testing.T) {
			_, environ := newHome(t, test.files)
			err := handshake(t, environ, map[string]string{test.host: "open-sesame"})
			wantCode(t, err, codes.Unknown)
			if message := status.Convert(err).Message(); !strings.Contains(message, test.want) || strings.Contains(message, "sesame") {
				t.Errorf("got %q, want %q", message, test.want)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		dir, environ := newHome(t, nil)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		wantCode(t, handshake(t, environ, map[string]string{"one.example.com": "x"}), codes.Unknown)
	})
}

func TestStoreCredentialsByHelper(t *testing.T) {
	dir, environ := newHome(t, map[string]string{
		".terraformrc": "credentials_helper \"x\" {\n  args = [\"--deep\"]\n}\n",
		".terraform.d/plugins/terraform-credentials-x": "#!/bin/sh\n{ echo \"$@\"; cat; } > \"$HOME/said\"\n",
	})
	if err := handshake(t, environ, map[string]string{"one.example.com": "open-sesame"}); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "..", "said"))
	if want := "--deep store one.example.com\n{\"token\":\"open-sesame\"}"; err != nil || strings.TrimSpace(string(said)) != want {
		t.Errorf("the helper got %q, %v; want %q", said, err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "credentials.tfrc.json")); err == nil {
		t.Error("the token is in a file, too")
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
)

// slowly serves half of an archive, then byte after byte, and the rest when it may.
func slowly(archive []byte, rest <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		at := len(archive) / 2
		_, err := w.Write(archive[:at])
		for ; err == nil; at++ {
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a test's server
			select {
			case <-rest:
				_, _ = w.Write(archive[at:])
				return
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond): // so that there is something to draw
				_, err = w.Write(archive[at : at+1])
			}
		}
	}
}

// TestTerminalFetching checks that a line shows how much of a provider has arrived, is gone
// afterwards, and that an interrupt ends a download at once.
func TestTerminalFetching(t *testing.T) {
	server := registrytest.Start(t)
	archive := registrytest.Zip(t, registrytest.File{Name: "terraform-provider-bar", Content: strings.Repeat("x", 200_000)})
	server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.0.0", Archives: map[string][]byte{"os_arch": archive}})
	rest := make(chan struct{})
	server.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", slowly(archive, rest))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.tfcomponent.hcl": "required_providers {\n  bar = {\n    source  = \"example.com/foo/bar\"\n    version = \"1.0.0\"\n  }\n}\n",
		"cli.tfrc": fmt.Sprintf("host \"example.com\" {\n"+
			"  services = { \"providers.v1\" = \"https://%s/providers/\" }\n}\n", server.Host),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environ := []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(dir, "cli.tfrc"), "SSL_CERT_FILE=" + server.CAFile(t), "CAIRN_ENGINE=native"}
	size := pty.Winsize{Rows: 20, Cols: 90}
	args := []string{"-chdir=" + dir, "providers", "lock", "-platform=os_arch"}

	interrupted := startOnTerminal(t, size, environ, args...)
	interrupted.waitFor("Fetching provider example.com/foo/bar 1.0.0 for os_arch: 0.1 of 0.2 MB")
	if err := interrupted.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := interrupted.end(); status != 1 {
		t.Errorf("an interrupt ends it with %d", status)
	}
	if _, err := os.Stat(filepath.Join(dir, ".terraform.lock.hcl")); err == nil {
		t.Error("something is locked")
	}

	term := startOnTerminal(t, size, environ, args...)
	term.waitFor("Fetching provider example.com/foo/bar 1.0.0 for os_arch: 0.1 of 0.2 MB")
	close(rest)
	if status := term.end(); status != 0 {
		t.Errorf("it ends with %d", status)
	}
	const want = "Fetched provider example.com/foo/bar 1.0.0 for os_arch\nProvider: example.com/foo/bar 1.0.0 for os_arch: "
	if text := term.text(); !strings.HasPrefix(text, want) {
		t.Errorf("on the screen is\n%s", text)
	}
}

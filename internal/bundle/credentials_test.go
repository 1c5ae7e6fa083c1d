// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
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

func TestDamagedCLIConfig(t *testing.T) {
	w := newWorld(t)
	path := writeFile(t, filepath.Join(t.TempDir(), "x.tfrc"), `credentials "x" {`)
	w.environ = append(w.environ, "TF_CLI_CONFIG_FILE="+path)
	w.stack("component \"c\" {\n  source = \"HOST/ns/m/x\"\n  version = \"1.0.0\"\n}\n")
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "the CLI configuration "+path+" cannot be used")
}

func TestRegistryToken(t *testing.T) {
	w := newWorld(t)
	w.server.RequireToken("open-sesame")
	w.server.Archive("x.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule}))
	w.server.Publish("modules/ns/m/x", "1.0.0", "/archives/x.tgz")
	w.stack("component \"c\" {\n  source = \"registry.example.test/ns/m/x\"\n  version = \"1.0.0\"\n}\n")
	services := "host \"registry.example.test\" {\n  services = { \"modules.v1\" = \"https://" + w.server.Host + "/modules/\" }\n}\n"
	path := writeFile(t, filepath.Join(t.TempDir(), "x.tfrc"), services)
	base := append(w.environ, "TF_CLI_CONFIG_FILE="+path) //nolint:gocritic // a new list

	w.environ = base
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "refuses access (401 Unauthorized)", "TF_TOKEN_registry_example_test")

	w.environ = append(base, "TF_TOKEN_registry_example_test=open-sesame") //nolint:gocritic // a new list
	w.mustFetch(nil)

	writeFile(t, path, services+`credentials "registry.example.test" { token = "open-sesame" }`)
	w.environ = base
	w.mustFetch(upgrade)
	for _, name := range []string{LockFileName, ".cairn/sources/" + manifestName} {
		if strings.Contains(w.read(name), "sesame") {
			t.Errorf("%s has the token", name)
		}
	}
}

func TestNestedFiles(t *testing.T) {
	nested := strings.Repeat("[", 100_000)
	path := writeFile(t, filepath.Join(t.TempDir(), LockFileName), "\nx = "+nested)
	if _, err := readLockFile(path); err == nil || !strings.Contains(err.Error(), LockFileName+":2") {
		t.Errorf("lock file: got %v, want an error at line 2", err)
	}
}

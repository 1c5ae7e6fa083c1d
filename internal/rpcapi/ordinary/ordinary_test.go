// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package ordinary_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/rpcapi/ordinary"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func state(lineage string) string {
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.11.0","serial":3,"lineage":%q,"outputs":{},"resources":[]}`, lineage)
}

const (
	localRecord  = `{"version":3,"backend":{"type":"local","config":{"path":"kept/here.json","workspace_dir":"kept/all"},"hash":1}}`
	usualRecord  = `{"version":3,"backend":{"type":"local","config":{"path":null,"workspace_dir":null},"hash":1}}`
	remoteRecord = `{"version":3,"backend":{"type":"http","config":{"address":"http://localhost"},"hash":1}}`
)

// TestRead has directories with several states. The one that is read is known by its lineage.
func TestRead(t *testing.T) {
	all := map[string]string{
		"terraform.tfstate":                         state("usual"),
		"terraform.tfstate.d/dev/terraform.tfstate": state("usual-dev"),
		"kept/here.json":                            state("configured"),
		"kept/all/dev/terraform.tfstate":            state("configured-dev"),
	}
	cases := map[string]struct {
		files   map[string]string
		environ []string
		want    string // empty for an empty state
		problem string
	}{
		"nothing recorded":           {want: "usual"},
		"usual":                      {files: map[string]string{".terraform/terraform.tfstate": usualRecord}, want: "usual"},
		"configured":                 {files: map[string]string{".terraform/terraform.tfstate": localRecord}, want: "configured"},
		"only providers":             {files: map[string]string{".terraform/terraform.tfstate": `{"version":3}`}, want: "usual"},
		"workspace of the directory": {files: map[string]string{".terraform/environment": "dev"}, want: "usual-dev"},
		"workspace of environment": {
			files:   map[string]string{".terraform/terraform.tfstate": localRecord, ".terraform/environment": "x"},
			environ: []string{"TF_WORKSPACE=dev"},
			want:    "configured-dev",
		},
		"workspace without a state": {environ: []string{"TF_WORKSPACE=other"}},
		"default by environment": {
			files:   map[string]string{".terraform/environment": "dev"},
			environ: []string{"TF_WORKSPACE=default"},
			want:    "usual",
		},
		"data directory": {
			files:   map[string]string{"data/terraform.tfstate": localRecord, ".terraform/environment": "dev"},
			environ: []string{"TF_DATA_DIR=data"},
			want:    "configured",
		},
		"other backend":            {files: map[string]string{".terraform/terraform.tfstate": remoteRecord}, want: "pulled"},
		"workspace that leads out": {environ: []string{"TF_WORKSPACE=../x"}, problem: "Unreadable workspace selection"},
		"damaged record":           {files: map[string]string{".terraform/terraform.tfstate": "{"}, problem: "Unreadable backend record"},
		"record of another kind": {
			files:   map[string]string{".terraform/terraform.tfstate": `{"backend":{"type":"local","config":3}}`},
			problem: "Unreadable backend record",
		},
		"damaged state":               {files: map[string]string{"terraform.tfstate": "{"}, problem: "Unreadable state"},
		"state of an earlier version": {files: map[string]string{"terraform.tfstate": `{"version":3}`}, problem: "Unreadable state"},
		"state is a directory": {
			files:   map[string]string{".terraform/terraform.tfstate": `{"backend":{"type":"local","config":{"path":"kept"}}}`},
			problem: "Unreadable state",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, all)
			write(t, dir, c.files)
			pull := func(_ context.Context, backend, in string) ([]byte, error) {
				if backend != "http" || in != dir {
					t.Errorf("pulled from %s in %s", backend, in)
				}
				return []byte(state("pulled")), nil
			}
			doc, diags := ordinary.Directory{Path: dir, Environ: c.environ, Pull: pull}.Read(t.Context())
			if got := doc.Lineage(); got != c.want || c.want == "" && !doc.IsEmpty() {
				t.Errorf("read %q, want %q", got, c.want)
			}
			if c.problem == "" && len(diags) > 0 || c.problem != "" && (len(diags) != 1 || diags[0].Summary != c.problem) {
				t.Errorf("got %v, want %q", diags, c.problem)
			}
		})
	}
}

func TestMissingDirectory(t *testing.T) {
	doc, diags := ordinary.Directory{Path: filepath.Join(t.TempDir(), "missing")}.Read(t.Context())
	if !doc.IsEmpty() || len(diags) != 1 || diags[0].Summary != "No such working directory" {
		t.Errorf("got %v", diags)
	}
}

func TestFailingPull(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".terraform/terraform.tfstate": remoteRecord})
	pull := func(context.Context, string, string) ([]byte, error) {
		return nil, failure.Error("State not read", "No.")
	}
	if doc, diags := (ordinary.Directory{Path: dir, Pull: pull}).Read(t.Context()); !doc.IsEmpty() ||
		len(diags) != 1 || diags[0].Summary != "State not read" {
		t.Errorf("got %v", diags)
	}
}

// TestLocked reads a state that the real engine has locked, and reads it once it is free.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"terraform.tfstate": state("usual"),
		"main.tf": `
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "touch started; until [ -e go ]; do sleep 0.05; done"
  }
}
`,
	})
	testenv.CLIConfig(t, "")
	program := testenv.Engine(t)
	initialize := testenv.Command(t, program, "init")
	initialize.Dir = dir
	if out, err := initialize.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	apply := testenv.Command(t, program, "apply", "-auto-approve")
	apply.Dir = dir
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Within(t, "the apply has begun", func() {
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for _, err := os.Stat(filepath.Join(dir, "started")); err != nil &&
			t.Context().Err() == nil; _, err = os.Stat(filepath.Join(dir, "started")) {
			<-again.C
		}
	})
	doc, diags := ordinary.Directory{Path: dir}.Read(t.Context())
	if !doc.IsEmpty() || len(diags) != 1 || diags[0].Summary != "State locked" || !strings.Contains(diags[0].Detail, "OperationTypeApply") {
		t.Errorf("got %v", diags)
	}
	write(t, dir, map[string]string{"go": ""})
	if err := apply.Wait(); err != nil {
		t.Fatal(err)
	}
	if doc, diags := (ordinary.Directory{Path: dir}).Read(t.Context()); len(diags) > 0 || !doc.HasObjects() || doc.Lineage() != "usual" {
		t.Errorf("read %s, %v", doc.Bytes(), diags)
	}
}

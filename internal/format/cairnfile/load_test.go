// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestLoad(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"a/main.tfcomponent.hcl", "a/x.tf", "b/main.tf", "c/README.md"} {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Symlink(t, outside, filepath.Join(root, "d"))
	tests := map[string]struct {
		src, want string // want begins a kind, or names the code and part of the detail
	}{
		"stack":               {`stack "a" {}`, "stack"},
		"root module":         {`stack "b" {}`, "terraform"},
		"as it says":          {"stack \"a\" { kind = \"terraform\" }", "terraform"},
		"no configuration":    {`stack "c" {}`, "order/bad-path holds neither"},
		"link to the outside": {`stack "d" {}`, "order/bad-path escapes"},
		"not there":           {`stack "e" {}`, "order/bad-path file does not exist"},
		"deployment's name":   {`stack "a" { deployment = "../x" }`, "order/bad-value cannot be a deployment"},
		"deployment of one":   {`stack "b" { deployment = "dev" }`, "order/bad-value has no deployments"},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(root, FileName), []byte(test.src), 0o644); err != nil {
				t.Fatal(err)
			}
			m, diags := Load(root)
			code, detail, isError := strings.Cut(test.want, " ")
			if !isError {
				if m == nil || string(m.Leaves[0].Stack.Kind) != test.want {
					t.Errorf("got %v, want kind %s", diags, test.want)
				}
				return
			}
			if m != nil || len(diags) != 1 || string(problem.CodeOf(diags[0])) != code || !strings.Contains(diags[0].Detail, detail) {
				t.Errorf("got %v, want %s with %q", diags, code, detail)
			}
		})
	}
}

// A file with values may be made by a task, so that one that is not there is a warning.
func TestLoadMissingVarFile(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"main.tf": "", "there.tfvars": "", FileName: "stack \"a\" {\n  path      = \".\"\n  var_files = [\"there.tfvars\", \"gone.tfvars\"]\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, diags := Load(root)
	if m == nil || len(diags) != 1 || diags[0].Severity != hcl.DiagWarning ||
		diags[0].Subject.Start.Line != 3 || !strings.Contains(diags[0].Detail, "gone.tfvars") {
		t.Errorf("got %v, want one warning about gone.tfvars", diags)
	}
}

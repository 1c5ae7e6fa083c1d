// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package locks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// written is a file as terraform writes it.
const written = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/cairnstacks/fake" {
  version = "1.0.0"
  hashes = [
    "h1:sQhg6jVagnDv3H7MJNpxVkSxf1udn/xfULp9Mi4eKKo=",
    "zh:0123",
  ]
}

provider "registry.terraform.io/hashicorp/time" {
  version     = "0.14.2"
  constraints = ">= 0.5.0, ~> 0.9"
}
`

func TestRoundTrip(t *testing.T) {
	parsed, diags := locks.Parse([]byte(written), "x")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(written, string(locks.Format(parsed))); diff != "" {
		t.Error(diff)
	}
	if got := string(locks.Format(&locks.Locks{})); !strings.HasSuffix(got, "updates.\n") {
		t.Errorf("without locks: got %q", got)
	}
}

func TestParseInvalid(t *testing.T) {
	const time = `provider "registry.terraform.io/hashicorp/time" {` + "\n"
	for name, test := range map[string]struct {
		src, summary string
		line         int
	}{
		"syntax":           {"x", "Argument or block definition required", 1},
		"other block":      {"foo \"x\" {\n}\n", "Unsupported block type", 1},
		"short address":    {"provider \"hashicorp/time\" {\nversion = \"1.0.0\"\n}\n", "Invalid provider address", 1},
		"other case":       {"provider \"registry.terraform.io/hashicorp/Time\" {\nversion = \"1.0.0\"\n}\n", "Invalid provider address", 1},
		"no address":       {"provider \"a//b\" {\nversion = \"1.0.0\"\n}\n", "Invalid provider address", 1},
		"built in":         {"provider \"terraform.io/builtin/terraform\" {\nversion = \"1.0.0\"\n}\n", "Invalid provider address", 1},
		"twice":            {time + "version = \"1.0.0\"\n}\n" + time + "version = \"1.0.0\"\n}\n", "Duplicate provider lock", 4},
		"no version":       {time + "}\n", "Missing required argument", 1},
		"short version":    {time + "version = \"1.0\"\n}\n", "Invalid provider version", 2},
		"constraint":       {time + "version = \">= 1.0\"\n}\n", "Invalid provider version", 2},
		"null version":     {time + "version = null\n}\n", "Invalid value", 2},
		"variable":         {time + "version = var.x\n}\n", "Variables not allowed", 2},
		"constraints":      {time + "version = \"1.0.0\"\nconstraints = \"x\"\n}\n", "Invalid version constraint", 3},
		"constraint order": {time + "version = \"1.0.0\"\nconstraints = \">= 1.0.0, >= 0.1.0\"\n}\n", "Invalid version constraint", 3},
		"hashes":           {time + "version = \"1.0.0\"\nhashes = \"h1:x\"\n}\n", "Invalid expression", 3},
		"no hashes":        {time + "version = \"1.0.0\"\nhashes = []\n}\n", "Empty list of hashes", 3},
		"hash":             {time + "version = \"1.0.0\"\nhashes = [\n\"h1:x\",\n\"abc\"\n]\n}\n", "Invalid hash", 5},
		"argument":         {time + "version = \"1.0.0\"\nfoo = 1\n}\n", "Unsupported argument", 3},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, diags := locks.Parse([]byte(test.src), "x")
			if parsed != nil || len(diags) != 1 || diags[0].Summary != test.summary || diags[0].Subject.Start.Line != test.line {
				t.Errorf("got %v, %v; want %q in line %d", parsed, diags, test.summary, test.line)
			}
		})
	}
}

func TestParseModules(t *testing.T) {
	parsed, diags := locks.Parse([]byte("module \"x\" {\n}\n"+written), "x")
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || len(parsed.All()) != 2 {
		t.Errorf("got %v, %v; want two locks and a warning", parsed, diags)
	}
}

func TestNormalizeConstraints(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"1":                                    "1.0.0",
		"= 1.0.0":                              "1.0.0",
		"~>0.9,>=0.5":                          ">= 0.5.0, ~> 0.9",
		"~> 1":                                 "~> 1.0",
		"~>1.0.0-rc1":                          "~> 1.0.0-rc1",
		"~>1, ~>1.0, ~>1.0.0, >1, <1":          "> 1.0.0, ~> 1.0.0, ~> 1.0, < 1.0.0",
		"!= 0.2.0,= 0.14.2,<1, 0.14.2, ~> 0.1": "~> 0.1, != 0.2.0, 0.14.2, < 1.0.0",
		"~>1.0.0,=1.0.0,!=1.0.0,<=1.0.0,>=1.0.0,<1.0.0,>1.0.0": "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, <= 1.0.0, < 1.0.0, != 1.0.0",
		">= 1.0.0-beta2, > 1.0.0":                              ">= 1.0.0-beta2, > 1.0.0",
	} {
		got, err := locks.NormalizeConstraints(text)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
		if again, err := locks.NormalizeConstraints(got); err != nil || again != got {
			t.Errorf("%q: the second time it is %q, %v", text, again, err)
		}
	}
	for _, text := range []string{"xx", "1.*", "v1.0.0", "> 1 > 2", ","} {
		if got, err := locks.NormalizeConstraints(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}

// A file that is accepted is written such that the same is read again, and errors lie in the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte("module \"x\" {\n}\nprovider \"example.com/a/b\" {\n version = \"1.0.0-a+b\"\n hashes = [\"x:y\"]\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		parsed, diags := locks.Parse(src, "x")
		for _, diag := range diags {
			if diag.Subject == nil || diag.Subject.End.Byte > len(src) {
				t.Errorf("a diagnostic is outside of the file: %v", diag)
			}
		}
		if (parsed == nil) != diags.HasErrors() {
			t.Fatalf("got %v, %v", parsed, diags)
		}
		if parsed == nil {
			return
		}
		text := locks.Format(parsed)
		again, diags := locks.Parse(text, "x")
		if len(diags) > 0 || !slices.EqualFunc(parsed.All(), again.All(), func(a, b *locks.Lock) bool { return cmp.Equal(a, b) }) {
			t.Fatalf("%q is written %q, which is read as %v, %v", src, text, again, diags)
		}
	})
}

// A file of terraform is read, and written in the same way.
func TestTerraform(t *testing.T) {
	terraform := testenv.Terraform(t)
	testenv.CLIConfig(t, testenv.TimeProviderMirror(t))
	dir := t.TempDir()
	const config = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake", version = ">0.1,!=0.5,<=1.0,~>1.0.0" }
    time = { source = "hashicorp/time", version = "~> 0.9, >=0.5.0" }
  }
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), terraform, "init")
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	path := filepath.Join(dir, locks.FileName)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parsed, diags := locks.Read(path)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(string(want), string(locks.Format(parsed))); diff != "" {
		t.Error(diff)
	}
	fake, err := locks.ParseProvider("registry.terraform.io/cairnstacks/fake")
	if err != nil {
		t.Fatal(err)
	}
	normal, err := locks.NormalizeConstraints(">0.1,!=0.5,<=1.0,~>1.0.0")
	if err != nil || parsed.Provider(fake).Constraints != normal {
		t.Errorf("the constraints are %q, and normalized %q, %v", parsed.Provider(fake).Constraints, normal, err)
	}
}

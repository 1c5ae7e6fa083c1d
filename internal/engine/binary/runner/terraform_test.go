// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// terraform is a command that runs terraform or tofu in a module of one file.
func terraform(t *testing.T, config string, args ...string) Command {
	t.Helper()
	engine := testenv.Engine(t)
	dir := t.TempDir()
	cliConfig := filepath.Join(dir, "empty.rc")
	for name, content := range map[string]string{cliConfig: "", filepath.Join(dir, "main.tf"): config} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := Environ(os.Environ(), map[string]string{"TF_CLI_CONFIG_FILE": cliConfig})
	return Command{Path: engine, Args: args, Dir: dir, Env: env, RunDir: t.TempDir()}
}

func TestTerraformPlanAndApply(t *testing.T) {
	c := terraform(t, `
resource "terraform_data" "x" {
  count = 2
  input = "v"
}
output "o" {
  value = terraform_data.x[1].output
}
`, "plan", "-json", "-out=tfplan")
	var planned []string
	result := run(t, c, func(ev Event) {
		if ev.Type == EventPlannedChange {
			planned = append(planned, ev.Change.Resource.Addr+" "+ev.Change.Action)
		}
	})
	slices.Sort(planned)
	if got, want := strings.Join(planned, ", "), "terraform_data.x[0] create, terraform_data.x[1] create"; got != want {
		t.Errorf("planned %q, want %q", got, want)
	}
	if result.Outcome != OutcomeSucceeded || result.Summary == nil || result.Summary.Add != 2 || result.Summary.Operation != "plan" {
		t.Errorf("plan: %+v, summary %+v", result, result.Summary)
	}

	c.Args = []string{"apply", "-json", "tfplan"}
	var version, output string
	var completed int
	result = run(t, c, func(ev Event) {
		switch ev.Type {
		case EventVersion:
			version = ev.Terraform + ev.Tofu // one of them is set
		case EventApplyComplete:
			completed++
		case EventOutputs:
			output = string(ev.Outputs["o"].Value)
		}
	})
	if result.Outcome != OutcomeSucceeded || version == "" || completed != 2 || output != `"v"` {
		t.Errorf("apply: %+v, version %q, %d completed, output %s", result, version, completed, output)
	}
}

func TestTerraformDiagnostics(t *testing.T) {
	result := run(t, terraform(t, `
variable "n" {
  default = 3
}
resource "terraform_data" "x" {
  lifecycle {
    precondition {
      condition     = var.n < 3
      error_message = "n is too large"
    }
  }
}
`, "plan", "-json"), nil)
	if result.Outcome != OutcomeFailed || result.ExitCode != 1 || len(result.Diagnostics) != 1 {
		t.Fatalf("outcome %s, exit code %d, diagnostics %+v", result.Outcome, result.ExitCode, result.Diagnostics)
	}
	d := result.Diagnostics[0]
	if d.Severity != diagnostic.Error || d.Detail != "n is too large" ||
		d.Range == nil || d.Range.Filename != "main.tf" || d.Range.Start.Line != 8 || d.Snippet == nil ||
		!slices.Contains(d.Snippet.Values, diagnostic.Value{Traversal: "var.n", Statement: "is 3"}) {
		t.Errorf("diagnostic is %+v, range %+v, snippet %+v", d, d.Range, d.Snippet)
	}
}

// TestTerraformInterrupt stops an apply while its first resource waits in a provisioner. The
// second, which depends on it, must not be created, and the finished changes must be in the state.
func TestTerraformInterrupt(t *testing.T) {
	c := terraform(t, `
resource "terraform_data" "done" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.done]
  provisioner "local-exec" {
    command = "while [ ! -e go ]; do sleep 0.01; done"
  }
}
resource "terraform_data" "never" {
  depends_on = [terraform_data.slow]
}
`, "apply", "-json", "-auto-approve")
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := wait(t, ctx, p, func(ev Event) {
		switch {
		case ev.Type == EventProvisionStart:
			cancel()
		case ev.Type == EventLog && strings.Contains(ev.Message, "Gracefully"):
			letGo(t, c)
		}
	})
	if !result.Interrupted || result.Outcome != OutcomeFailed || result.ExitCode != 1 || !result.HasErrors() {
		t.Errorf("interrupted %t, outcome %s, exit code %d, diagnostics %+v",
			result.Interrupted, result.Outcome, result.ExitCode, result.Diagnostics)
	}
	state, err := os.ReadFile(filepath.Join(c.Dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(state), `"name": "done"`) || strings.Contains(string(state), `"name": "never"`) {
		t.Errorf("the state is %s", state)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
)

// TestTerraformAgrees checks the expectations of the tests of moves against plans of terraform.
func TestTerraformAgrees(t *testing.T) {
	binary := testenv.Terraform(t)
	for name, test := range moveTests {
		if strings.Contains(test.files, "data") {
			continue // the built-in provider has no data source with a name of its own
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, message := judged(t, binary, test)
			if test.judge != "" {
				if !strings.Contains(message, test.judge) {
					t.Errorf("terraform does not say %q, but:\n%s", test.judge, message)
				}
				return
			}
			if got := strings.Join(objects, " "); got != test.want {
				t.Errorf("terraform plans with\ngot  %s\nwant %s\n%s", got, test.want, message)
			}
			if blocked := strings.Contains(message, "Unresolved resource instance address changes"); blocked != (test.blocked != "") {
				t.Errorf("terraform says that something is blocked: %t; we: %q\n%s", blocked, test.blocked, message)
			}
		})
	}
}

// TestTerraformAgreesOnRemovals checks the expectations of the tests of removed blocks against
// plans of terraform.
func TestTerraformAgreesOnRemovals(t *testing.T) {
	binary := testenv.Terraform(t)
	for name, test := range removalTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, message := judged(t, binary, moveTest{files: test.files + "\n", state: test.addr})
			if test.err != "" {
				if !strings.Contains(message, "still exists") {
					t.Errorf("terraform does not say that something still exists, but:\n%s", message)
				}
				return
			}
			forgets := strings.HasSuffix(test.want, "false")
			if got := strings.Contains(message, "will no longer be managed"); got != forgets {
				t.Errorf("terraform forgets it: %t; we: %t\n%s", got, forgets, message)
			}
		})
	}
}

// judged returns the objects that terraform plans with, and its messages.
func judged(t *testing.T, binary string, test moveTest) (objects []string, message string) {
	dir := t.TempDir()
	files := write(test.files)
	files["terraform.tfstate"] = string(stateOf(t, test.state))
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	engine := judge.New(t, binary, dir, "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, ""))
	message = engine.Said(func() error { return engine.Init(t.Context()) })
	message += engine.Said(func() error {
		_, err := engine.Plan(t.Context(), tfexec.Out("plan"))
		return err
	})
	if _, err := os.Stat(filepath.Join(dir, "plan")); errors.Is(err, fs.ErrNotExist) {
		return nil, message
	}
	return planned(t, engine.ShowPlan("plan")), message
}

// planned returns the objects of a plan that are in the state.
func planned(t *testing.T, text []byte) []string {
	var plan struct {
		Changes []struct {
			Address  string `json:"address"`
			Previous string `json:"previous_address"`
			Change   struct {
				Actions []string `json:"actions"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var objects []string
	for _, c := range plan.Changes {
		if slices.Equal(c.Change.Actions, []string{"create"}) {
			continue
		}
		if c.Previous != "" {
			c.Address += "<-" + c.Previous
		}
		objects = append(objects, short(c.Address))
	}
	slices.Sort(objects)
	return objects
}

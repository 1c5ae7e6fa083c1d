// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

const emptyState = `{"version":4,"terraform_version":"1.11.0","serial":1,"lineage":"1a58c0f6-5d7e-4e1e-a4cd-2ea6a1d8f52a",` +
	`"outputs":{},"resources":[]}`

func (c *client) openRaw(state string) (*stackspb.OpenTerraformState_Response, error) {
	return c.stacks.OpenTerraformState(c.t.Context(), &stackspb.OpenTerraformState_Request{
		State: &stackspb.OpenTerraformState_Request_Raw{Raw: []byte(state)},
	})
}

func (c *client) openDirectory(dir string) *stackspb.OpenTerraformState_Response {
	c.t.Helper()
	response, err := c.stacks.OpenTerraformState(c.t.Context(), &stackspb.OpenTerraformState_Request{
		State: &stackspb.OpenTerraformState_Request_ConfigPath{ConfigPath: dir},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return response
}

func (c *client) closeTerraformState(opened int64) error {
	_, err := c.stacks.CloseTerraformState(c.t.Context(), &stackspb.CloseTerraformState_Request{StateHandle: opened})
	return err
}

func TestTerraformStates(t *testing.T) {
	c := serve(t)
	opened, err := c.openRaw(emptyState)
	if err != nil || opened.GetStateHandle() == 0 {
		t.Fatalf("got %v, %v", opened, err)
	}
	if err := c.closeTerraformState(opened.GetStateHandle()); err != nil {
		t.Error(err)
	}
	locks := c.locks()
	for _, handle := range []int64{opened.GetStateHandle(), 0, 99, locks} {
		wantStatus(t, c.closeTerraformState(handle), codes.InvalidArgument, "there is no ordinary state")
	}
	_, err = c.stacks.OpenTerraformState(t.Context(), &stackspb.OpenTerraformState_Request{})
	wantStatus(t, err, codes.InvalidArgument, "config_path or raw")
	for _, raw := range []string{"", "{", `{"version":3}`, "[]", `{"version":4,"resources":3}`} {
		_, err := c.openRaw(raw)
		wantStatus(t, err, codes.InvalidArgument, "")
	}
}

// TestDirectoriesWithStates checks that a fault of a directory is a diagnostic beside a handle.
func TestDirectoriesWithStates(t *testing.T) {
	c := serve(t)
	t.Chdir(t.TempDir())
	writeFiles(t, ".", map[string]string{"good/terraform.tfstate": emptyState, "bad/terraform.tfstate": "{"})
	for dir, want := range map[string]string{"good": "", "bad": "Unreadable state", "missing": "No such working directory"} {
		response := c.openDirectory(dir)
		if response.GetStateHandle() == 0 {
			t.Errorf("%s has no handle", dir)
		}
		var wanted []*terraform1pb.Diagnostic
		if want != "" {
			wanted = append(wanted, &terraform1pb.Diagnostic{Severity: terraform1pb.Diagnostic_ERROR, Summary: want})
		}
		wantDiagnostics(t, response.GetDiagnostics(), wanted...)
	}
}

// TestStateOfRemoteBackend has the engine get a state from a server, in the workspace that the
// directory knows nothing else of.
func TestStateOfRemoteBackend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write([]byte(emptyState)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"main.tf": "terraform {\n  backend \"http\" {\n    address = \"" + server.URL + "\"\n  }\n}\n"})
	testenv.CLIConfig(t, "")
	program := testenv.Engine(t)
	initialize := testenv.Command(t, program, "init")
	initialize.Dir = dir
	if out, err := initialize.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := serve(t)
	wantDiagnostics(t, c.openDirectory(dir).GetDiagnostics())

	server.Close()
	got := c.openDirectory(dir)
	wantDiagnostics(t, got.GetDiagnostics(), &terraform1pb.Diagnostic{Severity: terraform1pb.Diagnostic_ERROR, Summary: "State not read"})
	if got.GetStateHandle() == 0 {
		t.Error("there is no handle")
	}
}

func TestRemoteBackendWithoutEngine(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{".terraform/terraform.tfstate": `{"version":3,"backend":{"type":"http","config":{}}}`})
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CAIRN_ENGINE", "terraform-that-is-missing")
	got := serve(t).openDirectory(dir)
	if len(got.GetDiagnostics()) != 1 || !strings.Contains(got.GetDiagnostics()[0].GetSummary(), "ngine") || got.GetStateHandle() == 0 {
		t.Errorf("got %v", got)
	}
}

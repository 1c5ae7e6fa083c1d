// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schematest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// echoAddress is the address of the provider.
const echoAddress = "registry.terraform.io/cairnstacks/echo"

// Echo is a provider of any schemas, in the process of the test, with which terraform shows the
// requests that it makes of providers, and whether it accepts their answers. The names of its types
// start with "echo_".
type Echo struct {
	Resources, Data map[string]*schema.Block

	// Imports are the objects that can be imported, by type, whatever the ID.
	Imports map[string]cty.Value

	// Plan and Apply return the objects that are planned and made; they may be nil, for the proposed
	// and the planned object.
	Plan  func(call Call) cty.Value
	Apply func(call Call) cty.Value

	// Diagnose returns the diagnostics for a configuration; nil for none.
	Diagnose func(typeName string) []*tfprotov6.Diagnostic

	// RequiresReplace and Legacy are returned with each plan.
	RequiresReplace []string
	Legacy          bool

	calls struct {
		sync.Mutex
		all []Call
	}
}

// Call is a request to plan, read or apply an object.
type Call struct {
	Method, Type                     string
	Prior, Config, Proposed, Planned cty.Value
}

// Diagnostic is one of terraform's.
type Diagnostic struct {
	Severity, Summary, Detail, Address string
	Range                              struct {
		Start, End struct{ Line, Column int }
	}
}

// Workspace is a directory in which terraform works with the provider.
type Workspace struct {
	echo *Echo
	dir  string
	env  []string
}

// Start serves the provider until the test ends, and writes files for terraform: name by content.
func (e *Echo) Start(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Workspace{echo: e, dir: dir, env: append(os.Environ(),
		"TF_REATTACH_PROVIDERS="+e.serve(t), "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, ""), "CHECKPOINT_DISABLE=1")}
}

// Requirement is the configuration that a module needs to use the provider.
const Requirement = `terraform {
  required_providers {
    echo = { source = "cairnstacks/echo" }
  }
}
`

func (e *Echo) serve(t testing.TB) string {
	t.Helper()
	t.Setenv("TF_LOG_SDK", "OFF")
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	var served sync.WaitGroup
	served.Go(func() {
		//nolint:errcheck // callers of the provider notice
		_ = tf6server.Serve(echoAddress, func() tfprotov6.ProviderServer { return &echoServer{echo: e} },
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithGoPluginLogger(hclog.NewNullLogger()), tf6server.WithoutLogStderrOverride())
	})
	t.Cleanup(func() {
		cancel()
		<-closed
		served.Wait()
	})
	config := <-configs
	encoded, err := json.Marshal(map[string]any{echoAddress: map[string]any{
		"Protocol": "grpc", "ProtocolVersion": 6, "Pid": config.Pid, "Test": true,
		"Addr": map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// Terraform runs terraform, and returns its diagnostics and all its output.
func (w *Workspace) Terraform(t testing.TB, args ...string) ([]Diagnostic, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Terraform(t), args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	output, err := cmd.CombinedOutput()
	var diags []Diagnostic
	for line := range strings.Lines(string(output)) {
		var message struct{ Diagnostic *Diagnostic }
		if json.Unmarshal([]byte(line), &message) == nil && message.Diagnostic != nil {
			diags = append(diags, *message.Diagnostic)
		}
	}
	if err != nil && len(diags) == 0 {
		at := max(0, len(output)-2000)
		if crash := strings.Index(string(output), "panic("); crash >= 0 {
			at = crash
		}
		t.Fatalf("terraform %v: %v\n%s", args, err, output[at:min(len(output), at+3000)])
	}
	return diags, string(output)
}

// File returns the content of a file.
func (w *Workspace) File(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Calls returns the calls of a method since the last time, by type.
func (w *Workspace) Calls(method string) map[string]Call {
	w.echo.calls.Lock()
	defer w.echo.calls.Unlock()
	found := map[string]Call{}
	for _, call := range w.echo.calls.all {
		if call.Method == method {
			found[call.Type] = call
		}
	}
	w.echo.calls.all = slices.DeleteFunc(w.echo.calls.all, func(call Call) bool { return call.Method == method })
	return found
}

// StateFile returns a state with one object of each type, named "it".
func (e *Echo) StateFile(t testing.TB, objects map[string]cty.Value) string {
	t.Helper()
	var resources []any
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		attributes, err := ctyjson.Marshal(objects[name], e.Resources[name].Type())
		if err != nil {
			t.Fatalf("state of %s: %v", name, err)
		}
		resources = append(resources, map[string]any{
			"mode": "managed", "type": name, "name": "it", "provider": fmt.Sprintf("provider[%q]", echoAddress),
			"instances": []any{map[string]any{"schema_version": 0, "attributes": json.RawMessage(attributes)}},
		})
	}
	encoded, err := json.Marshal(map[string]any{
		"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "test", "outputs": map[string]any{}, "resources": resources,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

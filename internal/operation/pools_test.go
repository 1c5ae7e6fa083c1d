// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/engine/remote/remotetest"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const pooledStack = `
required_providers {
  fake = {
    source  = "registry.terraform.io/cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "main" {}
component "network" {
  source    = "./network"
  providers = { fake = provider.fake.main }
}
component "train" {
  source    = "./train"
  inputs    = { network = component.network.id }
  providers = { fake = provider.fake.main }
}
output "train" {
  type  = string
  value = component.train.id
}
`

const pooledModule = `
terraform {
  required_providers {
    fake = { source = "registry.terraform.io/cairnstacks/fake" }
  }
}
`

// pooled is a stack of which one component is in a pool.
type pooled struct {
	dir     string
	calls   string
	gate    string // at which the provider waits, if it is in the stack
	workers *remotetest.Workers
}

func newPooled(t *testing.T, resource string) *pooled {
	t.Helper()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	p := &pooled{calls: filepath.Join(t.TempDir(), "calls"), gate: filepath.Join(t.TempDir(), "gate")}
	t.Setenv(testprovider.CallsVariable, p.calls)
	t.Setenv(testprovider.StoreVariable, t.TempDir())
	p.dir = newStack(t, map[string]string{
		"main.tfcomponent.hcl": pooledStack,
		"network/main.tf":      pooledModule + "resource \"fake_resource\" \"a\" {}\noutput \"id\" { value = fake_resource.a.id }\n",
		"train/main.tf": pooledModule + "variable \"network\" { type = string }\n" + strings.ReplaceAll(resource, "GATE", p.gate) +
			"\noutput \"id\" { value = fake_slow.b.value }\n",
		"cairn.hcl": "pool \"gpu\" {\n  components = [\"component.train\"]\n}\n",
	})
	p.workers = remotetest.New(t, remote.ServerOptions{Open: func(dir string) (engine.Engine, error) {
		return operation.Open(operation.Options{Env: env.Options{Dir: dir, Environ: os.Environ()}}).Engines().OpenForWorker()
	}})
	t.Cleanup(func() { p.open(t) })
	return p
}

func (p *pooled) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(p.gate, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// apply applies the stack in a directory.
func (p *pooled) apply(t *testing.T, dir string, transport remote.Transport) hcl.Diagnostics {
	t.Helper()
	stack := operation.Open(operation.Options{
		Env: env.Options{Dir: dir, Environ: os.Environ()},
		Engine: engines.Request{
			Named: engines.Auto, NamedBy: "this test", Workers: func(string, func(_, _ string)) (remote.Transport, error) { return transport, nil },
		},
	})
	diags := stack.Apply(context.Background(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll})
	if err := stack.Close(); err != nil {
		t.Error(err)
	}
	return diags
}

// wantCreated compares the types of all objects whose creation was asked for.
func (p *pooled) wantCreated(t *testing.T, want ...string) {
	t.Helper()
	calls, err := testprovider.ReadCalls(p.calls)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, call := range calls {
		if call.RPC == "ApplyResourceChange" && call.Action == "create" && !call.Finished {
			got = append(got, call.Type)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("created: %q, want %q", got, want)
	}
}

// A component in a pool gets values from one that is none, which are not known while it is planned.
func TestPool(t *testing.T) {
	p := newPooled(t, `resource "fake_slow" "b" { value = var.network }`)
	if diags := p.apply(t, p.dir, p.workers.Program(p.dir)); diags.HasErrors() {
		t.Fatal(diags)
	}
	p.wantCreated(t, "fake_resource", "fake_slow")
	if diags := p.apply(t, p.dir, p.workers.Program(p.dir)); diags.HasErrors() {
		t.Fatal(diags)
	}
	p.wantCreated(t, "fake_resource", "fake_slow")
}

// Without workers, components in pools are errors, which say what is missing.
func TestPoolWithoutWorkers(t *testing.T) {
	p := newPooled(t, `resource "fake_slow" "b" { value = var.network }`)
	diags := p.apply(t, p.dir, nil)
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return engine.FaultOf(diag) == remote.CodeNoWorkers }) {
		t.Errorf("got %v, want that no workers are configured", diags)
	}
	p.wantCreated(t)
}

// An address that the stack does not have is a mistake in the settings.
func TestUnknownPoolAddress(t *testing.T) {
	p := newPooled(t, `resource "fake_slow" "b" { value = var.network }`)
	misspelt := []byte("pool \"gpu\" {\n  components = [\"component.trian\"]\n}\n")
	if err := os.WriteFile(filepath.Join(p.dir, "cairn.hcl"), misspelt, 0o600); err != nil {
		t.Fatal(err)
	}
	diags := p.apply(t, p.dir, nil)
	if len(diags) != 1 || diags[0].Summary != "Unknown address in pool" || diags[0].Subject.Start.Line != 2 {
		t.Errorf("got %v, want an error about component.trian", diags)
	}
}

// unlock removes all locks of the state in a directory.
func unlock(t *testing.T, dir string) {
	t.Helper()
	stack := operation.Open(operation.Options{Env: env.Options{Dir: dir}})
	defer stack.Close() //nolint:errcheck // nothing else was written
	opened, err := stack.States().Existing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	locks, err := opened.Store.Holders(t.Context(), opened.Name)
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %v and %v, want one", locks, err)
	}
	if err := opened.Store.ForceUnlock(t.Context(), opened.Name, locks[0].ID); err != nil {
		t.Fatal(err)
	}
}

// An operation finds the apply of one that died while a worker did it, and takes it over. Here the
// directory as it was at that moment stands for the dead one.
func TestPoolTakeOver(t *testing.T) {
	p := newPooled(t, "resource \"fake_slow\" \"b\" {\n  value       = var.network\n  create_gate = \"GATE\"\n}")
	first := make(chan hcl.Diagnostics, 1)
	go func() { first <- p.apply(t, p.dir, p.workers.Program(p.dir)) }()
	testenv.AwaitFile(t, p.gate+".reached")
	left := filepath.Join(t.TempDir(), "stack")
	if err := os.CopyFS(left, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	unlock(t, left)
	second := make(chan hcl.Diagnostics, 1)
	go func() { second <- p.apply(t, left, p.workers.Program(left)) }()
	p.open(t)
	diags := testenv.Receive(t, "the second apply has ended", second)
	if diags.HasErrors() {
		t.Errorf("the second apply: %v", diags)
	}
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		return diag.Summary == "Interrupted apply recovered" && strings.Contains(diag.Detail, "component.train")
	}) {
		t.Errorf("the second apply: got %v, want that the first one is recovered", diags)
	}
	if diags := testenv.Receive(t, "the first apply has ended", first); diags.HasErrors() {
		t.Errorf("the first apply: %v", diags)
	}
	p.wantCreated(t, "fake_resource", "fake_slow")
}

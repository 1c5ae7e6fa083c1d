// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// connected is the plugin of a client of the library go-plugin: the connection itself.
type connected struct{ plugin.NetRPCUnsupportedPlugin }

func (connected) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (connected) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// managed starts cairn by the library go-plugin under the name of terraform, as programs do that
// migrate to stacks. The client has a connection, and no process of the tests.
func managed(t *testing.T, dir string) *client {
	t.Helper()
	link := filepath.Join(t.TempDir(), "terraform")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, options{dir: dir})
	cmd.Path, cmd.Args[0] = link, link
	started := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: cookieName, MagicCookieValue: cookie},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"terraform": connected{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: true,
		Cmd: cmd, SkipHostEnv: true, Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(started.Kill)
	protocol, err := started.Client()
	if err != nil {
		t.Fatalf("starting the server: %v", err)
	}
	if err := protocol.Ping(); err != nil {
		t.Fatal(err)
	}
	dispensed, err := protocol.Dispense("terraform")
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(&process{t: t}, dispensed.(*grpc.ClientConn))
}

// A program that migrates to stacks hands over its files and the states of terraform, keeps the
// results for each component, and closes all in the end.
func testMigrationClient(t *testing.T) {
	dir := writeFiles(t, migratedStack)
	writeFile(t, filepath.Join(dir, "old", "terraform.tfstate"), terraformState(""))
	c := managed(t, dir)
	capabilities := must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{
		Capabilities: &setuppb.ClientCapabilities{}, Config: &setuppb.Config{},
	})).GetCapabilities()
	if capabilities == nil {
		t.Error("the server has no capabilities")
	}
	s := &stack{dir: dir, client: c}
	s.bundle = s.openBundle("")
	s.config = must[*stackspb.OpenStackConfiguration_Response](t)(s.openConfiguration(s.bundle,
		&terraform1.SourceAddress{Source: "./stack"})).GetStackConfigHandle()
	s.locks, s.cache = s.withFake()
	found := s.find()
	if _, declared := found.GetComponents()["a"]; !declared {
		t.Fatalf("components of the stack: %v", found)
	}

	opened := must[*stackspb.OpenTerraformState_Response](t)(c.openDirectory(filepath.Join(dir, "old")))
	events := must[[]*stackspb.MigrateTerraformState_Event](t)(s.migrate(&stackspb.MigrateTerraformState_Request{
		StateHandle: opened.GetStateHandle(), ConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
		Mapping: &stackspb.MigrateTerraformState_Request_Simple{
			Simple: &mapping{ResourceAddressMap: map[string]string{"fake_resource.old": "component.a"}},
		},
	}))
	wantMigrated(t, events, "component.a", "fake_resource.old")
	state := rawState{}
	for _, event := range events {
		state.merge(event.GetAppliedChange())
	}
	plan := s.planned(state, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(plan); !ok || !strings.HasSuffix(componentStatuses(plan, "component.a"), "PLANNED") {
		t.Errorf("the plan of what was migrated: %v, applyable %t", diagnostics(plan), ok)
	}

	for name, closed := range map[string]func() error{
		"state": func() error {
			_, err := c.stacks.CloseTerraformState(t.Context(), &stackspb.CloseTerraformState_Request{StateHandle: opened.GetStateHandle()})
			return err
		},
		"configuration": func() error { return s.closeConfiguration(s.config) },
		"locks": func() error {
			_, err := c.dependencies.CloseDependencyLocks(
				t.Context(), &dependenciespb.CloseDependencyLocks_Request{DependencyLocksHandle: s.locks},
			)
			return err
		},
		"cache": func() error {
			_, err := c.dependencies.CloseProviderPluginCache(
				t.Context(), &dependenciespb.CloseProviderPluginCache_Request{ProviderCacheHandle: s.cache},
			)
			return err
		},
	} {
		if err := closed(); err != nil {
			t.Errorf("closing the %s: %v", name, err)
		}
	}
}

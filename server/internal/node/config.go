// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"go.temporal.io/server/chasm/lib/activity"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
)

// clusterName is recorded in the database and can never change.
const clusterName = "cairn"

const (
	frontend         = primitives.FrontendService
	internalFrontend = primitives.InternalFrontendService
)

// behaviour is the dynamic configuration.
var behaviour = dynamicconfig.StaticClient{
	activity.Enabled.Key():          true, // activities that a client starts, without a workflow
	dynamicconfig.EnableChasm.Key(): true, // of which these are a part

	dynamicconfig.EnableServerVersionCheck.Key(): false, // rule N3

	// One node gains nothing by partitions, and a task waits longer for a poll of another one.
	dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
	dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
}

// configure returns the configuration, and the addresses of the services.
func configure(ctx context.Context, options Options) (*config.Config, map[primitives.ServiceName]string, error) {
	services := []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}
	if options.Secure != nil {
		services = append(services, internalFrontend)
	}
	cfg := &config.Config{
		Persistence: options.Database.Persistence,
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: options.Address.String()},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		Services: map[string]config.Service{string(frontend): {RPC: config.RPC{
			GRPCPort: int(options.Address.Port()), BindOnIP: options.Address.Addr().String(),
		}}},
	}
	addresses := map[primitives.ServiceName]string{frontend: reachable(options.Address)}
	for _, service := range services {
		port, err := freePort(ctx)
		if err != nil {
			return nil, nil, err
		}
		cfg.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopback}}
		addresses[service] = net.JoinHostPort(loopback, strconv.Itoa(port))
	}
	if options.Secure == nil {
		cfg.PublicClient.HostPort = addresses[frontend]
	}
	return cfg, addresses, nil
}

const loopback = "127.0.0.1"

// reachable returns an address at which this machine reaches a listener.
func reachable(address netip.AddrPort) string {
	switch host := address.Addr(); {
	case !host.IsUnspecified():
		return address.String()
	case host.Is4():
		return net.JoinHostPort(loopback, strconv.Itoa(int(address.Port())))
	default:
		return net.JoinHostPort("::1", strconv.Itoa(int(address.Port())))
	}
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback+":0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

func names(addresses map[primitives.ServiceName]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(addresses)) {
		names = append(names, string(name))
	}
	return names
}

// hosts returns the members of the cluster, which is this process. If they were found by gossip,
// the database would remember them, and they would be asked after a restart with other ports.
func hosts(addresses map[primitives.ServiceName]string) map[primitives.ServiceName]static.Hosts {
	members := make(map[primitives.ServiceName]static.Hosts, len(addresses))
	for name, address := range addresses {
		members[name] = static.SingleLocalHost(address)
	}
	return members
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package temporaltest_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

func TestRestart(t *testing.T) {
	for name, database := range map[string]func(*testing.T) string{
		"memory":   func(*testing.T) string { return temporaltest.Memory },
		"file":     func(*testing.T) string { return temporaltest.File },
		"postgres": func(t *testing.T) string { return postgrestest.Start(t).URL("") },
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			server := temporaltest.Start(t, database(t))
			t.Logf("started in %s", time.Since(start).Round(time.Millisecond))
			check(t, server, grpc_health_v1.HealthCheckResponse_SERVING)
			server.Stop(t)
			check(t, server, grpc_health_v1.HealthCheckResponse_UNKNOWN)
			server.Run(t)
			check(t, server, grpc_health_v1.HealthCheckResponse_SERVING)
			server.Restart(t)
			check(t, server, grpc_health_v1.HealthCheckResponse_SERVING)
		})
	}
}

// check asks a server for its health. It is unknown where nobody answers.
func check(t *testing.T, server *temporaltest.Server, want grpc_health_v1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // Nothing is under way.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{
		Service: "temporal.api.workflowservice.v1.WorkflowService",
	})
	if got := answer.GetStatus(); got != want {
		t.Errorf("health: got %s, error %v; want %s; log: %s", got, err, want, server.Log(t))
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package temporal_test

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/queuetest"
	"github.com/cairnstacks/cairn/internal/workers/queue/temporal"
)

// pausing is a cluster with one task, which it says is paused after the first sign of life, and is
// to stop after the next ones.
type pausing struct {
	workflowservice.UnimplementedWorkflowServiceServer
	task queue.Task
	give sync.Once

	mu    sync.Mutex
	signs int
}

func (*pausing) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (*pausing) DescribeNamespace(
	context.Context, *workflowservice.DescribeNamespaceRequest,
) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{NamespaceInfo: &namespacepb.NamespaceInfo{}}, nil
}

func (c *pausing) PollActivityTaskQueue(
	ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest,
) (answer *workflowservice.PollActivityTaskQueueResponse, err error) {
	c.give.Do(func() {
		var text []byte
		text, err = json.Marshal(c.task)
		answer = &workflowservice.PollActivityTaskQueueResponse{
			TaskToken: []byte("token"), ActivityId: c.task.ID(), ActivityType: &commonpb.ActivityType{Name: "cairn.call"}, Attempt: 1,
			Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{
				{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: text},
			}},
			HeartbeatTimeout: durationpb.New(time.Minute), StartToCloseTimeout: durationpb.New(time.Hour),
		}
	})
	if answer == nil && err == nil {
		<-ctx.Done()
		err = status.FromContextError(ctx.Err()).Err()
	}
	return answer, err
}

func (c *pausing) RecordActivityTaskHeartbeat(
	context.Context, *workflowservice.RecordActivityTaskHeartbeatRequest,
) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signs++
	return &workflowservice.RecordActivityTaskHeartbeatResponse{ActivityPaused: c.signs == 1, CancelRequested: c.signs > 1}, nil
}

func (*pausing) RespondActivityTaskCompleted(
	context.Context, *workflowservice.RespondActivityTaskCompletedRequest,
) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}

// A task that somebody pauses in the cluster goes on, gives signs of life and can be stopped (rule
// Q2).
func TestPaused(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, cluster := grpc.NewServer(), &pausing{task: queuetest.Task()}
	workflowservice.RegisterWorkflowServiceServer(server, cluster)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	q := connect(t, listener.Addr().String(), temporal.Options{})
	c := queuetest.Serve(t, q, cluster.task.Line, 1).Next()
	c.Stopped()
	cluster.mu.Lock()
	if cluster.signs != 2 {
		t.Errorf("told to stop at the sign of life %d, want 2", cluster.signs)
	}
	cluster.mu.Unlock()
	c.End(nil)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

var (
	hostileTime = flag.Duration("for", 5*time.Second, "how long hostile requests are made")
	hostileSeed = flag.Uint64("seed", 0, "what random requests are made of; 0 leaves it to CAIRN_TEST_SEED")
)

const (
	hostileWorkers = 4
	callPatience   = 5 * time.Second // after which a call is cancelled
	manyHandles    = 10_000
)

// Whatever is sent to a server, it lives, ends calls with codes that clients know, and needs no
// more afterwards than before.
func TestHostileRequests(t *testing.T) {
	if *hostileSeed == 0 {
		*hostileSeed = testenv.Seed(t)
	}
	t.Logf("go test ./internal/rpcapi/rpctest -run='^TestHostileRequests$' -seed=%d -for=%s", *hostileSeed, *hostileTime)
	dir := writeFiles(t, dataStack+strings.ReplaceAll(fakeStack, "-- stack/", "-- fake/"))
	writeBundle(t, filepath.Join(dir, "sources"))
	c := start(t, options{dir: dir}).connect()
	drain(t, c.conn)
	h := &hostile{client: c, before: true}
	h.run(*hostileTime / 20)
	must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{}))
	h.before = false
	before := measure(t, c.cmd.Process.Pid)
	h.openMany()
	h.run(*hostileTime * 19 / 20)
	h.closeAll()
	after := settled(t, c.cmd.Process.Pid, before)
	t.Logf("%d calls; codes %v; first %s, then %s", h.calls.Load(), h.seen(), before, after)
	if after.exceeds(before) {
		t.Errorf("the process has %s, and before %s", after, before)
	}
	s := &stack{client: c, dir: dir, bundle: c.openBundle("")}
	s.config = must[*stackspb.OpenStackConfiguration_Response](t)(
		s.openConfiguration(s.bundle, &terraform1.SourceAddress{Source: "./stack"})).GetStackConfigHandle()
	if diags, err := s.validate(); err != nil || len(diags) > 0 {
		t.Errorf("validating then: %v, error %v", diags, err)
	}
	shutdown(t, c.conn)
	if got := c.exitStatus(); got != 0 {
		t.Errorf("status %d, want 0", got)
	}
}

// hostile makes requests.
type hostile struct {
	*client
	before bool // the handshake
	calls  atomic.Int64

	mu struct {
		sync.Mutex
		handles map[handleKind][]int64
		codes   map[codes.Code]int
	}
}

// handleKind is a field of a response in which a server gives a handle.
type handleKind = protoreflect.FullName

// run makes random requests for some time.
func (h *hostile) run(wait time.Duration) {
	h.t.Helper()
	end := time.Now().Add(wait)
	var workers sync.WaitGroup
	for n := range hostileWorkers {
		random := rand.New(rand.NewPCG(*hostileSeed, uint64(n)+uint64(h.calls.Load())<<8))
		workers.Go(func() {
			for time.Now().Before(end) && !h.t.Failed() {
				h.one(&generator{random, h})
			}
		})
	}
	workers.Wait()
	if h.gone(0) {
		h.t.Fatalf("the process has ended: %v\n%s", h.status, h.stderr)
	}
}

// methods are all methods but those that end the process or the test.
var methods = sync.OnceValue(func() []protoreflect.MethodDescriptor {
	var all []protoreflect.MethodDescriptor
	for _, file := range []protoreflect.FileDescriptor{
		setuppb.File_terraform1_setup_setup_proto, dependenciespb.File_terraform1_dependencies_dependencies_proto,
		packagespb.File_terraform1_packages_packages_proto, stackspb.File_terraform1_stacks_stacks_proto,
	} {
		for service := range each(file.Services()) {
			for method := range each(service.Methods()) {
				if method.Name() != "Handshake" {
					all = append(all, method)
				}
			}
		}
	}
	return all
})

// one makes a random call and judges its end.
func (h *hostile) one(g *generator) {
	if !h.before && g.IntN(200) == 0 {
		h.flow(g)
		return
	}
	method := methods()[g.IntN(len(methods()))]
	ctx, cancel := context.WithTimeout(h.t.Context(), callPatience)
	defer cancel()
	if g.IntN(8) == 0 {
		time.AfterFunc(time.Duration(g.IntN(5000))*time.Microsecond, cancel)
	}
	var err error
	if g.IntN(4) == 0 {
		err = h.call(ctx, g, method, g.bytes, grpc.ForceCodec(bytesCodec{}))
	} else {
		err = h.call(ctx, g, method, func() any { return g.message(method.Input()) })
	}
	h.judge(string(method.FullName()), err)
}

// call makes a call with messages that next makes. Streams of requests may end in all ways.
func (h *hostile) call(
	ctx context.Context, g *generator, method protoreflect.MethodDescriptor, next func() any, opts ...grpc.CallOption,
) error {
	h.calls.Add(1)
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	desc := &grpc.StreamDesc{ClientStreams: method.IsStreamingClient(), ServerStreams: method.IsStreamingServer()}
	stream, err := h.conn.NewStream(ctx, desc, path, opts...)
	if err != nil {
		return err
	}
	requests := 1
	if method.IsStreamingClient() {
		requests = g.IntN(20)
	}
	for range requests {
		if stream.SendMsg(next()) != nil {
			break // receiving says why
		}
	}
	switch g.IntN(10) {
	case 0:
		return nil // the context ends the call
	case 1:
		if method.IsStreamingClient() {
			return nil // without its end
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var response any = &[]byte{}
		if len(opts) == 0 {
			response = dynamicpb.NewMessage(method.Output())
		}
		if err := stream.RecvMsg(response); err != nil {
			return endOf(err)
		}
		if message, ok := response.(proto.Message); ok {
			h.keep(message.ProtoReflect())
		}
		if !method.IsStreamingServer() {
			return nil
		}
	}
}

// endOf returns nil for the end of a stream.
func endOf(err error) error {
	if err.Error() == "EOF" {
		return nil
	}
	return err
}

// keep remembers the handles of a response.
func (h *hostile) keep(response protoreflect.Message) {
	response.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if strings.HasSuffix(string(field.Name()), "_handle") {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.mu.handles == nil {
				h.mu.handles = map[handleKind][]int64{}
			}
			h.mu.handles[field.FullName()] = append(h.mu.handles[field.FullName()], value.Int())
		}
		return true
	})
}

// allowed are the codes that clients have to expect.
var allowed = []codes.Code{
	codes.OK, codes.InvalidArgument, codes.Unknown, codes.Internal, codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted,
}

func (h *hostile) judge(what string, err error) {
	code := status.Code(err)
	h.mu.Lock()
	if h.mu.codes == nil {
		h.mu.codes = map[codes.Code]int{}
	}
	h.mu.codes[code]++
	h.mu.Unlock()
	early := h.before && code == codes.Unavailable && strings.Contains(err.Error(), "Handshake")
	switch {
	case err != nil && strings.Contains(err.Error(), "bug"):
		h.t.Errorf("%s: a bug: %v", what, err)
	case !slices.Contains(allowed, code) && !early:
		h.t.Errorf("%s: code %s is none that clients expect: %v", what, code, err)
	}
}

// seen returns how often calls ended with which codes.
func (h *hostile) seen() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]int{}
	for code, n := range h.mu.codes {
		seen[code.String()] = n
	}
	return seen
}

// openMany opens many handles.
func (h *hostile) openMany() {
	h.t.Helper()
	for range manyHandles {
		response := must[*dependenciespb.CreateDependencyLocks_Response](h.t)(
			h.dependencies.CreateDependencyLocks(h.t.Context(), &dependenciespb.CreateDependencyLocks_Request{}))
		h.keep(response.ProtoReflect())
	}
}

// closers are the methods that close the objects whose handles are in responses. Configurations
// come before the bundles that they hold.
var closeMethods = []struct {
	kind handleKind
	path string
}{
	{"terraform1.stacks.OpenStackConfiguration.Response.stack_config_handle", stackspb.Stacks_CloseStackConfiguration_FullMethodName},
	{"terraform1.stacks.OpenStackState.Response.state_handle", stackspb.Stacks_CloseState_FullMethodName},
	{"terraform1.stacks.OpenStackPlan.Response.plan_handle", stackspb.Stacks_ClosePlan_FullMethodName},
	{"terraform1.stacks.OpenTerraformState.Response.state_handle", stackspb.Stacks_CloseTerraformState_FullMethodName},
	{
		"terraform1.dependencies.CreateDependencyLocks.Response.dependency_locks_handle",
		dependenciespb.Dependencies_CloseDependencyLocks_FullMethodName,
	},
	{
		"terraform1.dependencies.OpenDependencyLockFile.Response.dependency_locks_handle",
		dependenciespb.Dependencies_CloseDependencyLocks_FullMethodName,
	},
	{
		"terraform1.dependencies.OpenProviderPluginCache.Response.provider_cache_handle",
		dependenciespb.Dependencies_CloseProviderPluginCache_FullMethodName,
	},
	{"terraform1.dependencies.OpenSourceBundle.Response.source_bundle_handle", dependenciespb.Dependencies_CloseSourceBundle_FullMethodName},
}

// closeAll closes all handles that are known. All these requests have the handle as their first
// field.
func (h *hostile) closeAll() {
	h.t.Helper()
	for _, method := range closeMethods {
		h.mu.Lock()
		handles := h.mu.handles[method.kind]
		delete(h.mu.handles, method.kind)
		h.mu.Unlock()
		for _, handle := range handles {
			request := &dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: handle}
			err := h.conn.Invoke(h.t.Context(), method.path, request, &emptypb.Empty{})
			if code := status.Code(err); code != codes.OK && code != codes.InvalidArgument { // it may be closed already
				h.t.Errorf("%s %d: %v", method.path, handle, err)
			}
		}
	}
}

// bytesCodec sends bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error)   { return v.([]byte), nil }
func (bytesCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = b; return nil }
func (bytesCodec) Name() string                    { return "proto" }

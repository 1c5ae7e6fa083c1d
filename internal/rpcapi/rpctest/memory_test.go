// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// The process gives back the memory of large requests, also of those that it has refused or could
// not decode.
func TestLargeRequestsLeaveNoMemory(t *testing.T) {
	c := open(t, options{})
	const size, limit = 60 << 20, 64 << 20
	state := func(size int) *stackspb.OpenTerraformState_Request {
		return &stackspb.OpenTerraformState_Request{State: &stackspb.OpenTerraformState_Request_Raw{Raw: bytes.Repeat([]byte("x"), size)}}
	}
	before := measure(t, c.cmd.Process.Pid)
	var calls sync.WaitGroup
	for _, call := range []struct {
		request any
		opts    []grpc.CallOption
		want    codes.Code
	}{
		{state(size), nil, codes.InvalidArgument},
		{state(size + 1), nil, codes.InvalidArgument},
		{state(limit), nil, codes.ResourceExhausted},
		{[]byte(strings.Repeat("\xff", size)), []grpc.CallOption{grpc.ForceCodec(bytesCodec{})}, codes.Internal},
	} {
		calls.Go(func() {
			var response any = &stackspb.OpenTerraformState_Response{}
			if len(call.opts) > 0 {
				response = &[]byte{}
			}
			wantCode(t, c.conn.Invoke(t.Context(), stackspb.Stacks_OpenTerraformState_FullMethodName, call.request,
				response, call.opts...), call.want)
		})
	}
	calls.Wait()
	if after := settled(t, c.cmd.Process.Pid, before); after.exceeds(before) {
		t.Errorf("the process has %s, and before %s", after, before)
	}
}

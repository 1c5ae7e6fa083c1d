// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// The largest messages: those with schemas, and all others.
const (
	maxSchemaSize  = 64 << 20
	maxMessageSize = 256 << 20
)

// ErrUnimplemented says that a provider does not have a method.
var ErrUnimplemented = errors.New("the provider does not have this method")

// Error is why a call has failed: the provider or the connection to it is to blame.
type Error struct {
	Problem string // whole sentences; nothing of the request or the response
	Said    string // the provider's message, if any; may quote the request
}

// Error returns the whole message.
func (e *Error) Error() string { return strings.TrimSpace(e.Problem + " " + e.Said) }

// Invoke calls a method. If it takes longer than [Options.CallTimeout], the process is ended.
//
// Errors: [ErrUnimplemented]; an [*Error]; context.Cause(ctx), after which the process goes on.
func (p *Process) Invoke(ctx context.Context, method Method, request, response proto.Message) error {
	ctx, call := p.follow(ctx, method, request)
	err := p.invoke(ctx, method, request, response)
	call.ended(response, err)
	return err
}

func (p *Process) invoke(ctx context.Context, method Method, request, response proto.Message) error {
	if err := p.over(); err != nil {
		return err
	}
	limited := ctx
	if p.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, p.timeout)
		defer cancel()
	}
	err := p.conn.Invoke(limited, method.path(p.version), request, response, method.maxSize())
	if err == nil {
		return nil
	}
	return p.explain(ctx, limited, err)
}

func (m Method) maxSize() grpc.CallOption {
	if m == GetSchema || m == GetIdentitySchemas || m == GetFunctions {
		return grpc.MaxCallRecvMsgSize(maxSchemaSize)
	}
	return grpc.MaxCallRecvMsgSize(maxMessageSize)
}

// InvokeStream calls a method that answers with several messages, each of which is given to receive
// before the next one is read. It ends with the last message, or when receive says that it is done,
// and may take any time.
//
// Errors: those of Invoke.
func (p *Process) InvokeStream(
	ctx context.Context, method Method, request proto.Message, newResponse func() proto.Message, receive func(proto.Message) (done bool),
) error {
	ctx, call := p.follow(ctx, method, request)
	err := p.invokeStream(ctx, method, request, newResponse, receive)
	call.ended(nil, err)
	return err
}

func (p *Process) invokeStream(
	ctx context.Context, method Method, request proto.Message, newResponse func() proto.Message, receive func(proto.Message) (done bool),
) error {
	if err := p.over(); err != nil {
		return err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel() // of the stream, too
	stream, err := p.conn.NewStream(limited, &grpc.StreamDesc{ServerStreams: true}, method.path(p.version), method.maxSize())
	if err == nil {
		err = send(stream, request)
	}
	for err == nil {
		response := newResponse()
		if err = stream.RecvMsg(response); err == nil && receive(response) {
			return nil
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return p.explain(ctx, limited, err)
}

// send sends the only request. The cause of a broken stream is found where the stream is read.
func send(stream grpc.ClientStream, request proto.Message) error {
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return stream.CloseSend()
}

// over returns why no calls can be made any more.
func (p *Process) over() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.over == nil {
		return nil
	}
	return p.mu.over
}

// explain returns the error for one of gRPC. The first context is that of the caller, the second
// has the timeout.
func (p *Process) explain(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if over := p.over(); over != nil {
		return over
	}
	switch code := status.Code(err); {
	case limited.Err() != nil || p.timeout > 0 && code == codes.DeadlineExceeded: // the other side knows the limit, too, and may notice first
		late := p.finish(&Error{Problem: fmt.Sprintf("The provider's program %s did not answer within %s and was ended.", p.name, p.timeout)})
		p.End()
		return late
	case code == codes.Unimplemented:
		return ErrUnimplemented
	case code == codes.Unavailable:
		return p.crashed()
	default:
		return &Error{Problem: "The provider's program " + p.name + " failed.", Said: status.Convert(err).Message()}
	}
}

// crashed returns the error for a process that has crashed, with its last words.
func (p *Process) crashed() error {
	p.ending.Do(p.kill) // waits until all that it wrote has been read
	failure := &Error{
		Problem: fmt.Sprintf("The provider's program %s has crashed. That is a mistake in the provider, not in the configuration: "+
			"select another version of it, or report it to the provider's authors.", p.name),
	}
	if words := p.words.String(); words != "" {
		failure.Said = "Its last words were: " + words
	}
	return p.finish(failure)
}

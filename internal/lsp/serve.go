// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Options are the parameters of [Serve].
type Options struct {
	Version string   // of the program
	Environ []string // of the stacks; nil stands for that of this program
	Log     *slog.Logger
	Timing  Timing
}

// ErrNoShutdown is the error for a client that has left without having asked the server to shut
// down.
var ErrNoShutdown = errors.New("the client has left without a shutdown request")

// Serve answers a client until it says exit, its connection ends, or the context does.
//
// Errors: [ErrNoShutdown]; those of reading and writing messages.
func Serve(ctx context.Context, connection io.ReadWriteCloser, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(connection), jsonrpc2.WithCodec(codec{}))
	s := newServer(ctx, opts, protocol.ClientDispatcher(conn))
	defer s.stop()
	conn.Go(ctx, s.handler())
	select {
	case <-conn.Done():
	case <-s.exited:
	case <-ctx.Done():
	}
	cancel()
	go func() {
		if err := errors.Join(connection.Close(), conn.Close()); err != nil { // which may wait for the client to close its side
			s.log.Debug("connection closed", "error", err.Error())
		}
	}()
	if s.state() != stateShutDown {
		return ErrNoShutdown
	}
	return nil
}

// codec writes and reads the payloads of messages.
type codec struct{}

// Marshal implements [jsonrpc2.Codec].
func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	return protocol.Marshal(v)
}

// Unmarshal implements [jsonrpc2.Codec].
func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append(jsonrpc2.RawMessage(nil), data...)
		return nil
	}
	// Strings that package protocol reads are parts of the bytes, which the library reads the next
	// message into once a call has its result.
	return protocol.Unmarshal(bytes.Clone(data), v)
}

// handler lets requests run at the same time and notifications one after the other (rule S1).
// Requests that are about the conversation itself are like notifications; they cannot be cancelled.
func (s *server) handler() jsonrpc2.Handler {
	answer := s.guard(protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler))
	concurrent := protocol.CancelHandler(func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.IsCall() {
			jsonrpc2.Async(ctx)
		}
		return answer(ctx, req)
	})
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		isCall := req.IsCall()
		if refused := s.refuses(req.Method()); refused != nil {
			if !isCall {
				return nil, nil //nolint:nilnil // nobody waits for a result
			}
			return nil, refused
		}
		if method := req.Method(); method == protocol.MethodInitialize || method == protocol.MethodShutdown {
			return answer(ctx, req) // the library reuses the context of a request that is not Async, which no other context may be made of
		}
		return concurrent(ctx, req)
	}
}

// guard keeps the connection after a panic, and after an error in a notification.
func (s *server) guard(handler jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		method, isCall, hasParams := strings.Clone(req.Method()), req.IsCall(), len(req.Params()) > 0
		defer func() {
			if problem := recover(); problem != nil {
				s.log.Error("panic", "method", method, "problem", fmt.Sprint(problem), "stack", string(debug.Stack()))
				result, err = nil, jsonrpc2.NewError(jsonrpc2.InternalError,
					"the server has failed; its log says more. This is a bug in cairn; please report it.")
			}
			if err != nil && !isCall {
				s.log.Warn("notification failed", "method", method, "error", err.Error())
				err = nil // an error would end the connection
			}
		}()
		result, err = handler(ctx, req)
		switch {
		case isCall && ctx.Err() != nil:
			return nil, protocol.ErrRequestCancelled
		case errors.Is(err, jsonrpc2.ErrParse) && !hasParams: // the library looks for those of methods that it does not know
			return nil, fmt.Errorf("%q: %w", method, jsonrpc2.ErrMethodNotFound)
		}
		return result, err
	}
}

// refuses returns why a message is not answered now, nil if it is.
func (s *server) refuses(method string) error {
	switch s.state() {
	case stateNew:
		if method != protocol.MethodInitialize && method != protocol.MethodExit {
			return jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "the server is not initialized")
		}
	case stateRunning:
		if method == protocol.MethodInitialize {
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is initialized")
		}
	case stateShutDown:
		if method != protocol.MethodExit {
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server was shut down")
		}
	}
	return nil
}

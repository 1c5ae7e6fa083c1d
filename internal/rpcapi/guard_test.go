// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// A status is sent in a header, of which clients take only so much.
func TestShortenStatus(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("x", maxStatusText), strings.Repeat("ü", maxStatusText)} {
		err := status.Error(codes.InvalidArgument, text)
		shortenStatus(&err)
		got := status.Convert(err)
		if short := len(text) <= maxStatusText; got.Code() != codes.InvalidArgument || short != (got.Message() == text) ||
			len(got.Message()) > maxStatusText+len("…") || !utf8.ValidString(got.Message()) {
			t.Errorf("%d bytes: %s with %d bytes", len(text), got.Code(), len(got.Message()))
		}
	}
	var err error
	if shortenStatus(&err); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// rawStatus calls a path as it is given, without a library that would put it right, and returns the
// status of the call.
func rawStatus(t *testing.T, conn net.Conn, path string) string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(testenv.Patience)); err != nil {
		t.Fatal(err)
	}
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	var errs []error
	for _, field := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", path},
		{":authority", "test"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	} {
		errs = append(errs, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	_, err := conn.Write([]byte(http2.ClientPreface))
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	errs = append(errs, err, framer.WriteSettings(),
		framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers.Bytes(), EndHeaders: true}),
		framer.WriteData(1, true, make([]byte, 5))) // an empty message
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return "none"
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range frame.Fields {
				if field.Name == "grpc-status" {
					return field.Value
				}
			}
		case *http2.RSTStreamFrame:
			return "none"
		}
	}
}

// Before the handshake, no call is made but those that need none, however its path is written.
func TestCallsBeforeHandshake(t *testing.T) {
	const unavailable = "14"
	server := New(Options{Version: "1.0.0"})
	for path, want := range map[string]bool{
		"/terraform1.setup.Setup/Handshake":           true,
		"/plugin.GRPCController/Shutdown":             true,
		"/terraform1.stacks.Stacks/PlanStackChanges":  false,
		"terraform1.stacks.Stacks/PlanStackChanges":   false,
		"//terraform1.stacks.Stacks/PlanStackChanges": false,
		"/TERRAFORM1.stacks.Stacks/PlanStackChanges":  false,
		"terraform1.setup.Setup/../Stacks":            false,
		"/other.Service/Method":                       false,
		"":                                            false,
	} {
		if err := server.allows(path); (err == nil) != want {
			t.Errorf("%q before the handshake: got %v, want it allowed: %t", path, err, want)
		}
	}
	listener := bufconn.Listen(1 << 20)
	served := server.NewGRPC()
	server.Register(served)
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(listener) }() // ends with Stop
	defer func() {
		served.Stop()
		if err := errors.Join(<-ended, server.Close()); err != nil {
			t.Error(err)
		}
	}()
	for path, refused := range map[string]bool{ // others are none of a method for the library
		"/terraform1.stacks.Stacks/ValidateStackConfiguration": true,
		"/terraform1.stacks.Stacks/PlanStackChanges":           true,
		"terraform1.stacks.Stacks/ValidateStackConfiguration":  false,
		"terraform1.stacks.Stacks/PlanStackChanges":            false,
		"//terraform1.stacks.Stacks/PlanStackChanges":          false,
	} {
		conn, err := listener.DialContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := rawStatus(t, conn, path)
		if refused && got != unavailable || !refused && got != unavailable && got != "12" && got != "none" {
			t.Errorf("%q before the handshake: got the status %s, want it refused", path, got)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCSetup(t *testing.T) {
	t.Run("S-01 calls before the handshake", func(t *testing.T) {
		c := start(t, options{}).connect()
		callAll(t, c.conn, codes.Unavailable)
	})
	t.Run("S-02 first handshake", func(t *testing.T) { handshake(t, start(t, options{})) })
	t.Run("S-03 second handshake", func(t *testing.T) {
		c := open(t, options{})
		_, err := c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{})
		wantCode(t, err, codes.FailedPrecondition)
		_, err = c.dependencies.GetBuiltInProviders(t.Context(), &dependenciespb.GetBuiltInProviders_Request{})
		wantCode(t, err, codes.OK)
	})
	t.Run("S-04 failed handshake", testFailedHandshake)
	t.Run("S-05 credentials", testCredentials)
	t.Run("S-06 stop before the handshake", func(t *testing.T) {
		c := start(t, options{}).connect()
		must[*setuppb.Stop_Response](t)(c.setup.Stop(t.Context(), &setuppb.Stop_Request{}))
		handshake(t, c.process)
	})
	t.Run("S-07 unknown fields", func(t *testing.T) {
		c := start(t, options{}).connect()
		request := &setuppb.Handshake_Request{}
		unknown := protowire.AppendString(protowire.AppendTag(nil, 1234, protowire.BytesType), "later")
		request.ProtoReflect().SetUnknown(unknown)
		must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), request))
	})
}

// callAll calls all methods of all services but Setup with an empty message.
func callAll(t *testing.T, conn *grpc.ClientConn, want codes.Code) {
	t.Helper()
	for _, service := range []grpc.ServiceDesc{
		dependenciespb.Dependencies_ServiceDesc, packagespb.Packages_ServiceDesc, stackspb.Stacks_ServiceDesc,
	} {
		for _, method := range service.Methods {
			err := conn.Invoke(t.Context(), "/"+service.ServiceName+"/"+method.MethodName, &emptypb.Empty{}, &emptypb.Empty{})
			wantCode(t, err, want)
		}
		for _, method := range service.Streams {
			stream, err := conn.NewStream(t.Context(), &method, "/"+service.ServiceName+"/"+method.StreamName)
			if err != nil {
				t.Fatal(err)
			}
			_ = stream.SendMsg(&emptypb.Empty{})
			_ = stream.CloseSend()
			wantCode(t, stream.RecvMsg(&emptypb.Empty{}), want)
		}
	}
}

func credentialsRequest() *setuppb.Handshake_Request {
	return &setuppb.Handshake_Request{Capabilities: &setuppb.ClientCapabilities{}, Config: &setuppb.Config{
		Credentials: map[string]*setuppb.HostCredential{"registry.example.com": {Token: "the-token"}},
	}}
}

// A home directory that is a file has no place for credentials.
func testFailedHandshake(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, options{env: []string{"HOME=" + home, "TF_CLI_CONFIG_FILE="}}).connect()
	_, err := c.setup.Handshake(t.Context(), credentialsRequest())
	wantCode(t, err, codes.Unknown)
	_, err = c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{})
	wantCode(t, err, codes.FailedPrecondition)
	callAll(t, c.conn, codes.Unavailable)
}

// Credentials are stored for other programs, and for nobody else to read.
func testCredentials(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".terraform.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := start(t, options{env: []string{"HOME=" + home, "TF_CLI_CONFIG_FILE="}}).connect()
	must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), credentialsRequest()))
	file := filepath.Join(home, ".terraform.d", "credentials.tfrc.json")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), `"registry.example.com"`) || !strings.Contains(string(content), `"the-token"`) {
		t.Errorf("%s: %s", file, content)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode of %s: %v, error %v", file, info.Mode(), err)
	}
	if strings.Contains(c.stderr.String(), "the-token") {
		t.Error("the log has the token")
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/rpcapi"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

func locked(t *testing.T, client dependenciespb.DependenciesClient, handle int64) []*terraform1pb.ProviderPackage {
	t.Helper()
	got, err := client.GetLockedProviderDependencies(t.Context(),
		&dependenciespb.GetLockedProviderDependencies_Request{DependencyLocksHandle: handle})
	if err != nil {
		t.Fatal(err)
	}
	return got.GetSelectedProviders()
}

func closeLocks(t *testing.T, client dependenciespb.DependenciesClient, handle int64, want codes.Code) {
	t.Helper()
	_, err := client.CloseDependencyLocks(t.Context(), &dependenciespb.CloseDependencyLocks_Request{DependencyLocksHandle: handle})
	wantCode(t, err, want)
}

func createLocks(t *testing.T, client dependenciespb.DependenciesClient, selections ...*terraform1pb.ProviderPackage) int64 {
	t.Helper()
	created, err := client.CreateDependencyLocks(t.Context(), &dependenciespb.CreateDependencyLocks_Request{ProviderSelections: selections})
	if err != nil {
		t.Fatal(err)
	}
	return created.GetDependencyLocksHandle()
}

func TestCreateDependencyLocks(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	handle := createLocks(t, client,
		&terraform1pb.ProviderPackage{SourceAddr: "time", Version: "0.14.2", Hashes: []string{"zh:b", "h1:a", "x9:unknown", "zh:b"}},
		&terraform1pb.ProviderPackage{SourceAddr: "example.com/foo/bar", Version: "1.2.3-beta+x"},
	)
	want := []*terraform1pb.ProviderPackage{
		{SourceAddr: "example.com/foo/bar", Version: "1.2.3-beta+x"},
		{SourceAddr: "registry.terraform.io/hashicorp/time", Version: "0.14.2", Hashes: []string{"h1:a", "zh:b"}},
	}
	if diff := cmp.Diff(want, locked(t, client, handle), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if empty := createLocks(t, client); len(locked(t, client, empty)) != 0 {
		t.Error("empty locks are not empty")
	}
	closeLocks(t, client, handle, codes.OK)
	_, err := client.GetLockedProviderDependencies(t.Context(),
		&dependenciespb.GetLockedProviderDependencies_Request{DependencyLocksHandle: handle})
	wantCode(t, err, codes.InvalidArgument)
}

func TestCreateDependencyLocksRefused(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	for name, selections := range map[string][]*terraform1pb.ProviderPackage{
		"address":    {{SourceAddr: "a//b", Version: "1.0.0"}},
		"no address": {{Version: "1.0.0"}},
		"version":    {{SourceAddr: "hashicorp/time", Version: "~> 1.0"}},
		"no version": {{SourceAddr: "hashicorp/time"}},
		"hash":       {{SourceAddr: "hashicorp/time", Version: "1.0.0", Hashes: []string{"abc"}}},
		"twice":      {{SourceAddr: "hashicorp/time", Version: "1.0.0"}, {SourceAddr: "registry.terraform.io/hashicorp/time", Version: "2.0.0"}},
		"built in":   {{SourceAddr: "terraform.io/builtin/terraform", Version: "1.0.0"}},
		"legacy":     {{SourceAddr: "-/time", Version: "1.0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.CreateDependencyLocks(t.Context(), &dependenciespb.CreateDependencyLocks_Request{ProviderSelections: selections})
			wantCode(t, err, codes.InvalidArgument)
		})
	}
}

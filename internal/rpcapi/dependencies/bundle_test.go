// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/rpcapi"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

const manifest = `{
  "terraform_source_bundle": 1,
  "packages": [{"source": "git::https://example.com/a.git", "local": "a", "meta": {}}],
  "registry": [{"source": "example.com/acme/net/aws", "versions": {
    "1.0.0": {"source": "git::https://example.com/a.git//old"},
    "1.2.3": {"source": "git::https://example.com/a.git//new"},
    "2.0.0": {"source": "git::https://example.com/a.git//next"}
  }}],
  "components": [{"source": "example.com/acme/base", "versions": {"1.0.0": {"source": "git::https://example.com/a.git"}}}]
}`

const lockFile = `
provider "example.com/foo/bar" {
  version = "1.2.3"
  hashes = [
    "zh:abc",
  ]
}
`

// newBundle returns the directory of a source bundle with lock files in several places.
func newBundle(t *testing.T) string {
	t.Helper()
	return writeFiles(t, t.TempDir(), map[string]string{
		"terraform-sources.json":    manifest,
		"a/.terraform.lock.hcl":     lockFile,
		"a/old/.terraform.lock.hcl": lockFile,
		"a/new/.terraform.lock.hcl": lockFile + "module \"x\" {\n}\n",
		"a/bad.hcl":                 "provider \"time\" {\n}\n",
	})
}

func openBundle(t *testing.T, client dependenciespb.DependenciesClient, dir string) int64 {
	t.Helper()
	opened, err := client.OpenSourceBundle(t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
	if err != nil {
		t.Fatal(err)
	}
	return opened.GetSourceBundleHandle()
}

func TestSourceBundle(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	closeBundle := func(handle int64) error {
		_, err := client.CloseSourceBundle(t.Context(), &dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: handle})
		return err
	}
	handle := openBundle(t, client, newBundle(t))
	if handle == 0 {
		t.Error("the handle is 0")
	}
	wantCode(t, closeBundle(0), codes.InvalidArgument)
	wantCode(t, closeBundle(handle+1), codes.InvalidArgument)
	wantCode(t, closeBundle(handle), codes.OK)
	wantCode(t, closeBundle(handle), codes.InvalidArgument)
}

func TestSourceBundleBroken(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	for name, dir := range map[string]string{
		"missing":     filepath.Join(t.TempDir(), "missing"),
		"no manifest": t.TempDir(),
		"no JSON":     writeFiles(t, t.TempDir(), map[string]string{"terraform-sources.json": "x"}),
		"version":     writeFiles(t, t.TempDir(), map[string]string{"terraform-sources.json": `{"terraform_source_bundle": 2}`}),
		"leads out": writeFiles(t, t.TempDir(), map[string]string{
			"terraform-sources.json": `{"terraform_source_bundle": 1, "packages": [{"source": "git::https://example.com/a.git", "local": "../a"}]}`,
		}),
		"bad registry": writeFiles(t,
			t.TempDir(), map[string]string{"terraform-sources.json": `{"terraform_source_bundle": 1, "registry": [{"source": "x"}]}`}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.OpenSourceBundle(t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
			wantCode(t, err, codes.Unknown)
		})
	}
}

func TestOpenDependencyLockFile(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	dir := newBundle(t)
	bundle := openBundle(t, client, dir)
	t.Chdir(writeFiles(t, t.TempDir(), map[string]string{"here/locks.hcl": lockFile}))
	for name, test := range map[string]struct {
		addr     *terraform1pb.SourceAddress
		warnings int
	}{
		"remote":              {&terraform1pb.SourceAddress{Source: "git::https://example.com/a.git//.terraform.lock.hcl"}, 0},
		"local":               {&terraform1pb.SourceAddress{Source: "./here/locks.hcl"}, 0},
		"registry, newest of": {&terraform1pb.SourceAddress{Source: "example.com/acme/net/aws//.terraform.lock.hcl", Versions: "~> 1.0"}, 1},
		"registry, exact":     {&terraform1pb.SourceAddress{Source: "example.com/acme/net/aws//.terraform.lock.hcl", Versions: "1.0.0"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			opened, err := client.OpenDependencyLockFile(t.Context(), &dependenciespb.OpenDependencyLockFile_Request{
				SourceBundleHandle: bundle,
				SourceAddress:      test.addr,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := opened.GetDiagnostics(); len(got) != test.warnings ||
				test.warnings > 0 && got[0].GetSeverity() != terraform1pb.Diagnostic_WARNING {
				t.Errorf("got diagnostics %v, want %d warnings", got, test.warnings)
			}
			want := []*terraform1pb.ProviderPackage{{SourceAddr: "example.com/foo/bar", Version: "1.2.3", Hashes: []string{"zh:abc"}}}
			if diff := cmp.Diff(want, locked(t, client, opened.GetDependencyLocksHandle()), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			closeLocks(t, client, opened.GetDependencyLocksHandle(), codes.OK)
			closeLocks(t, client, opened.GetDependencyLocksHandle(), codes.InvalidArgument)
		})
	}
}

// A mistake in a lock file is a diagnostic with the path of the file.
func TestOpenDependencyLockFileInvalid(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	dir := newBundle(t)
	bundle := openBundle(t, client, dir)
	for name, path := range map[string]string{"missing": "missing.hcl", "invalid": "bad.hcl", "a directory": "old"} {
		t.Run(name, func(t *testing.T) {
			opened, err := client.OpenDependencyLockFile(t.Context(), &dependenciespb.OpenDependencyLockFile_Request{
				SourceBundleHandle: bundle,
				SourceAddress:      &terraform1pb.SourceAddress{Source: "git::https://example.com/a.git//" + path},
			})
			if err != nil {
				t.Fatal(err)
			}
			if opened.GetDependencyLocksHandle() != 0 || len(opened.GetDiagnostics()) == 0 {
				t.Fatalf("got %v, want diagnostics and no handle", opened)
			}
			diag := opened.GetDiagnostics()[0]
			if want := filepath.Join(dir, "a", path); diag.GetSeverity() != terraform1pb.Diagnostic_ERROR ||
				diag.GetSubject().GetSourceAddr() != want {
				t.Errorf("got %v, want an error in %s", diag, want)
			}
		})
	}
}

func TestOpenDependencyLockFileRefused(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	bundle := openBundle(t, client, newBundle(t))
	for name, req := range map[string]*dependenciespb.OpenDependencyLockFile_Request{
		"no bundle":     {SourceAddress: &terraform1pb.SourceAddress{Source: "./x"}},
		"bad bundle":    {SourceBundleHandle: bundle + 7, SourceAddress: &terraform1pb.SourceAddress{Source: "./x"}},
		"no address":    {SourceBundleHandle: bundle},
		"empty address": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{}},
		"bare word":     {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "word"}},
		"absolute path": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "/x"}},
		"not in the bundle": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "git::https://example.com/b.git//x"},
		},
		"versions of remote": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "git::https://example.com/a.git//x", Versions: "1.0.0"},
		},
		"versions of local": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "./x", Versions: "1.0.0"}},
		"bad versions": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "example.com/acme/net/aws", Versions: "new"},
		},
		"version not there": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "example.com/acme/net/aws", Versions: "~> 3.0"},
		},
		"registry not there": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "example.com/acme/other/aws"}},
		"component registry": {SourceBundleHandle: bundle, SourceAddress: &terraform1pb.SourceAddress{Source: "example.com/acme/base"}},
		"path leads out of it": {
			SourceBundleHandle: bundle,
			SourceAddress:      &terraform1pb.SourceAddress{Source: "git::https://example.com/a.git//../../x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.OpenDependencyLockFile(t.Context(), req)
			wantCode(t, err, codes.InvalidArgument)
		})
	}
}

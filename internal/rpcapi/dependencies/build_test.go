// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

type (
	buildRequest  = dependenciespb.BuildProviderPluginCache_Request
	buildEvent    = dependenciespb.BuildProviderPluginCache_Event
	installMethod = dependenciespb.BuildProviderPluginCache_Request_InstallMethod
)

func direct() *installMethod {
	return &installMethod{Source: &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_Direct{Direct: true}}
}

func localMirror(dir string) *installMethod {
	return &installMethod{Source: &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_LocalMirrorDir{LocalMirrorDir: dir}}
}

func networkMirror(address string) *installMethod {
	return &installMethod{Source: &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_NetworkMirrorUrl{NetworkMirrorUrl: address}}
}

// build returns all events of a call.
func build(t *testing.T, client dependenciespb.DependenciesClient, req *buildRequest) ([]*buildEvent, error) {
	t.Helper()
	stream, err := client.BuildProviderPluginCache(t.Context(), req)
	if err != nil {
		return nil, err
	}
	var events []*buildEvent
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

// describeEvents describes events, one a line.
func describeEvents(events []*buildEvent) []string {
	var lines []string
	for _, event := range events {
		line := ""
		switch event := event.GetEvent().(type) {
		case *dependenciespb.BuildProviderPluginCache_Event_Pending_:
			line = "pending"
			for _, one := range event.Pending.GetExpected() {
				line += " " + one.GetSourceAddr() + one.GetVersions()
			}
		case *dependenciespb.BuildProviderPluginCache_Event_QueryBegin:
			line = "query " + event.QueryBegin.GetSourceAddr() + " " + event.QueryBegin.GetVersions()
		case *dependenciespb.BuildProviderPluginCache_Event_QueryWarnings:
			line = fmt.Sprintf("warnings %s %s", event.QueryWarnings.GetSourceAddr(), event.QueryWarnings.GetWarnings())
		case *dependenciespb.BuildProviderPluginCache_Event_QuerySuccess:
			line = "found " + event.QuerySuccess.GetSourceAddr() + " " + event.QuerySuccess.GetVersion()
		case *dependenciespb.BuildProviderPluginCache_Event_AlreadyInstalled:
			line = "already " + event.AlreadyInstalled.GetSourceAddr() + " " + event.AlreadyInstalled.GetVersion()
		case *dependenciespb.BuildProviderPluginCache_Event_FetchBegin_:
			line = "fetch " + event.FetchBegin.GetProviderVersion().GetSourceAddr() + " from " + event.FetchBegin.GetLocation()
		case *dependenciespb.BuildProviderPluginCache_Event_FetchComplete_:
			line = fmt.Sprintf("fetched %s %s %s", event.FetchComplete.GetProviderVersion().GetSourceAddr(), event.FetchComplete.GetAuthResult(),
				event.FetchComplete.GetKeyIdForDisplay())
		case *dependenciespb.BuildProviderPluginCache_Event_Diagnostic:
			line = event.Diagnostic.GetSeverity().String() + " " + event.Diagnostic.GetSummary() + ": " + event.Diagnostic.GetDetail()
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func wantEvents(t *testing.T, got []*buildEvent, want ...string) {
	t.Helper()
	lines := describeEvents(got)
	if !slices.EqualFunc(lines, want, strings.HasPrefix) {
		t.Errorf("got events\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestBuildProviderPluginCache(t *testing.T) {
	server := registrytest.Start(t)
	server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.2.3", Warnings: []string{"It moves."}})
	client := connect(t, rpcapi.Options{HTTP: server.Client, Environ: []string{"HOME=" + t.TempDir()}})
	addr := server.Host + "/foo/bar"
	locks := createLocks(t, client,
		&terraform1pb.ProviderPackage{SourceAddr: addr, Version: "1.2.3"},
		&terraform1pb.ProviderPackage{SourceAddr: "hashicorp/baz", Version: "1.0.0"},
	)
	mirror := writeFiles(t, t.TempDir(), map[string]string{
		"registry.terraform.io/hashicorp/baz/1.0.0/os_arch/terraform-provider-baz": "program",
	})
	dir := filepath.Join(t.TempDir(), "new", "cache")
	req := &buildRequest{
		CacheDir: dir, DependencyLocksHandle: locks, OverridePlatform: "os_arch",
		InstallationMethods: []*installMethod{localMirror(mirror), networkMirror("https://" + server.Host + "/mirror/")},
	}
	server.Answer("/mirror/"+addr+"/index.json", `{"versions": {"1.2.3": {}}}`)
	server.Answer("/mirror/"+addr+"/1.2.3.json",
		`{"archives": {"os_arch": {"url": "/files/terraform-provider-bar_1.2.3_os_arch.zip?token=secret"}}}`)
	events, err := build(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	found := func(provider, version string) []string {
		return []string{"query " + provider + " " + version, "found " + provider + " " + version}
	}
	pending := "pending " + addr + " hashicorp/baz"
	want := slices.Concat([]string{pending}, found(addr, "1.2.3"),
		[]string{
			"fetch " + addr + " from https://" + server.Host + "/files/terraform-provider-bar_1.2.3_os_arch.zip",
			"fetched " + addr + " UNKNOWN",
		},
		found("hashicorp/baz", "1.0.0"), []string{"fetch hashicorp/baz from " + mirror, "fetched hashicorp/baz UNKNOWN"})
	wantEvents(t, events, want...)
	if text := strings.Join(describeEvents(events), " "); strings.Contains(text, "secret") {
		t.Errorf("a secret is shown: %s", text)
	}

	events, err = build(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	wantEvents(t, events, slices.Concat([]string{pending}, found(addr, "1.2.3"), []string{"already " + addr + " 1.2.3"},
		found("hashicorp/baz", "1.0.0"), []string{"already hashicorp/baz 1.0.0"})...)

	opened, err := client.OpenProviderPluginCache(t.Context(), &dependenciespb.OpenProviderPluginCache_Request{
		CacheDir:         dir,
		OverridePlatform: "os_arch",
	})
	if err != nil {
		t.Fatal(err)
	}
	cached, err := client.GetCachedProviders(t.Context(),
		&dependenciespb.GetCachedProviders_Request{ProviderCacheHandle: opened.GetProviderCacheHandle()})
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range cached.GetAvailableProviders() {
		if hashes := provider.GetHashes(); len(hashes) != 1 || !strings.HasPrefix(hashes[0], "h1:") {
			t.Errorf("got hashes %q", hashes)
		}
	}
	if n := len(cached.GetAvailableProviders()); n != 2 {
		t.Errorf("%d providers are in the cache, want 2", n)
	}
}

// The origin registry has notices and signatures.
func TestBuildProviderPluginCacheDirect(t *testing.T) {
	server := registrytest.Start(t)
	server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.2.3", Warnings: []string{"It moves."}})
	client := connect(t, rpcapi.Options{HTTP: server.Client, Environ: []string{"HOME=" + t.TempDir()}})
	addr := server.Host + "/foo/bar"
	req := &buildRequest{
		CacheDir: t.TempDir(), OverridePlatform: "os_arch", InstallationMethods: []*installMethod{direct()},
		DependencyLocksHandle: createLocks(t, client, &terraform1pb.ProviderPackage{SourceAddr: addr, Version: "1.2.3"}),
	}
	events, err := build(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	wantEvents(t, events, "pending "+addr, "query "+addr+" 1.2.3", "warnings "+addr+" [It moves.]", "found "+addr+" 1.2.3",
		"fetch "+addr, "fetched "+addr+" UNKNOWN "+server.Key.PrimaryKey.KeyIdString())
	server.Handle("/providers/foo/bar/versions", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusInternalServerError)
	})
	events, err = build(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	wantEvents(t, events, "pending", "query", "ERROR Provider not found: The versions of "+addr)
}

// A failure is a diagnostic, and the other providers are installed.
func TestBuildProviderPluginCacheFails(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	mirror := writeFiles(t, t.TempDir(), map[string]string{
		"example.com/foo/bar/1.0.0/os_arch/terraform-provider-bar":     "program",
		"example.com/foo/bad/1.0.0/os_arch/other":                      "no program",
		"example.com/foo/zip/terraform-provider-zip_1.0.0_os_arch.zip": "no archive",
	})
	locks := func(packages ...*terraform1pb.ProviderPackage) int64 { return createLocks(t, client, packages...) }
	pkg := func(name, version string, hashes ...string) *terraform1pb.ProviderPackage {
		return &terraform1pb.ProviderPackage{SourceAddr: "example.com/foo/" + name, Version: version, Hashes: hashes}
	}
	for name, test := range map[string]struct {
		locks   int64
		methods []*installMethod
		want    []string
	}{
		"nothing locked": {locks(), []*installMethod{localMirror(mirror)}, []string{"pending"}},
		"no source":      {locks(pkg("bar", "1.0.0")), nil, []string{"pending", "query", "ERROR Provider not found: "}},
		"no provider": {
			locks(pkg("none", "1.0.0")),
			[]*installMethod{localMirror(mirror)},
			[]string{"pending", "query", "ERROR Provider not found: "},
		},
		"no version": {
			locks(pkg("bar", "2.0.0")),
			[]*installMethod{localMirror(mirror)},
			[]string{"pending", "query", "ERROR Provider not found: "},
		},
		"other hash": {
			locks(pkg("bar", "1.0.0", "h1:x")),
			[]*installMethod{localMirror(mirror)},
			[]string{"pending", "query", "found", "fetch", "ERROR Provider not installed: "},
		},
		"no program": {
			locks(pkg("bad", "1.0.0")),
			[]*installMethod{localMirror(mirror)},
			[]string{"pending", "query", "found", "fetch", "ERROR Provider not installed: "},
		},
		"one of several": {
			locks(pkg("zip", "1.0.0"), pkg("bar", "1.0.0")),
			[]*installMethod{localMirror(mirror)},
			[]string{"pending", "query", "found", "fetch", "fetched", "query", "found", "fetch", "ERROR Provider not installed: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			events, err := build(t, client, &buildRequest{
				CacheDir:              dir,
				DependencyLocksHandle: test.locks,
				OverridePlatform:      "os_arch",
				InstallationMethods:   test.methods,
			})
			if err != nil {
				t.Fatal(err)
			}
			wantEvents(t, events, test.want...)
			if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		events, err := build(t, client, &buildRequest{
			CacheDir: file, DependencyLocksHandle: locks(pkg("bar", "1.0.0")), OverridePlatform: "os_arch",
			InstallationMethods: []*installMethod{localMirror(mirror)},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, events, "pending", "query", "found", "fetch", "ERROR Provider not installed: ")
	})
}

func TestBuildProviderPluginCacheRefused(t *testing.T) {
	client := connect(t, rpcapi.Options{})
	locks := createLocks(t, client)
	for name, test := range map[string]struct {
		req  *buildRequest
		want codes.Code
	}{
		"no locks":  {&buildRequest{CacheDir: "x"}, codes.InvalidArgument},
		"bad locks": {&buildRequest{CacheDir: "x", DependencyLocksHandle: locks + 1}, codes.InvalidArgument},
		"platform":  {&buildRequest{CacheDir: "x", DependencyLocksHandle: locks, OverridePlatform: "linux"}, codes.InvalidArgument},
		"include": {&buildRequest{
			CacheDir: "x", DependencyLocksHandle: locks,
			InstallationMethods: []*installMethod{{Source: direct().GetSource(), Include: []string{"*/*"}}},
		}, codes.InvalidArgument},
		"exclude": {&buildRequest{
			CacheDir: "x", DependencyLocksHandle: locks,
			InstallationMethods: []*installMethod{{Source: direct().GetSource(), Exclude: []string{"*/*"}}},
		}, codes.InvalidArgument},
		"no source": {&buildRequest{CacheDir: "x", DependencyLocksHandle: locks, InstallationMethods: []*installMethod{{}}}, codes.Internal},
		"no address": {
			&buildRequest{CacheDir: "x", DependencyLocksHandle: locks, InstallationMethods: []*installMethod{networkMirror("http://example.com/")}},
			codes.InvalidArgument,
		},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := build(t, client, test.req)
			wantCode(t, err, test.want)
			if len(events) > 0 {
				t.Errorf("got events %q", describeEvents(events))
			}
		})
	}
}

// A client that gives up ends the installation.
func TestBuildProviderPluginCacheCancelled(t *testing.T) {
	server := registrytest.Start(t)
	began, ended := make(chan struct{}), make(chan struct{})
	server.Handle("/providers/foo/bar/versions", func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	client := connect(t, rpcapi.Options{HTTP: server.Client, Environ: []string{"HOME=" + t.TempDir()}})
	locks := createLocks(t, client, &terraform1pb.ProviderPackage{SourceAddr: server.Host + "/foo/bar", Version: "1.0.0"})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := client.BuildProviderPluginCache(ctx, &buildRequest{
		CacheDir:              t.TempDir(),
		DependencyLocksHandle: locks,
		InstallationMethods:   []*installMethod{direct()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // pending, query_begin
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	<-began
	cancel()
	_, err = stream.Recv()
	wantCode(t, err, codes.Canceled)
	<-ended
}

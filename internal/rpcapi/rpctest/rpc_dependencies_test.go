// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

func TestRPCDependencies(t *testing.T) {
	t.Run("D-01 bundle", func(t *testing.T) {
		c := open(t, options{})
		bundle := c.openBundle("")
		wantCode(t, c.closeBundle(bundle), codes.OK)
		wantCode(t, c.closeBundle(bundle), codes.InvalidArgument)
	})
	t.Run("D-02 no bundle", testNoBundle)
	t.Run("D-03 lock file in the bundle", testLockFileInBundle)
	t.Run("D-04 addresses of lock files", testLockFileAddresses)
	t.Run("D-05 lock file that cannot be read", testBadLockFiles)
	t.Run("D-06 locks read back", testCreateLocks)
	t.Run("D-07 locks that cannot be", testImpossibleLocks)
	t.Run("D-08 cache for another platform", testForeignCache)
	t.Run("D-09 cache of nothing", testEmptyCache)
	t.Run("D-10 cache requests", testCacheRequests)
	t.Run("D-11 provider that no source has", testMissingProvider)
	t.Run("D-12 opening a cache", testOpenCache)
	t.Run("D-13 built-in providers", func(t *testing.T) {
		c := open(t, options{})
		got := must[*dependenciespb.GetBuiltInProviders_Response](t)(
			c.dependencies.GetBuiltInProviders(t.Context(), &dependenciespb.GetBuiltInProviders_Request{}))
		want := []*terraform1.ProviderPackage{{SourceAddr: builtIn}}
		if diff := gocmp.Diff(want, got.GetAvailableProviders(), protocmp.Transform()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("D-14 schema of the built-in provider", testBuiltInSchema)
	t.Run("D-15 schema of a provider", testProviderSchema)
	t.Run("D-16 schema requests", testSchemaRequests)
}

const builtIn = "terraform.io/builtin/terraform"

// openBundle opens a source bundle: that of a directory, or with "" one without packages.
func (c *client) openBundle(dir string) int64 {
	c.t.Helper()
	if dir == "" {
		dir = c.t.TempDir()
		writeBundle(c.t, dir)
	}
	handle := must[*dependenciespb.OpenSourceBundle_Response](c.t)(
		c.dependencies.OpenSourceBundle(c.t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})).GetSourceBundleHandle()
	if handle == 0 {
		c.t.Fatal("the handle is 0")
	}
	return handle
}

func (c *client) closeBundle(handle int64) error {
	_, err := c.dependencies.CloseSourceBundle(c.t.Context(), &dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: handle})
	return err
}

func testNoBundle(t *testing.T) {
	c := open(t, options{})
	invalid := t.TempDir()
	writeFile(t, filepath.Join(invalid, "terraform-sources.json"), `{"terraform_source_bundle":`)
	for name, dir := range map[string]string{
		"none": filepath.Join(t.TempDir(), "none"), "no manifest": t.TempDir(), "manifest that is not JSON": invalid,
	} {
		_, err := c.dependencies.OpenSourceBundle(t.Context(), &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantCode(t, err, codes.Unknown)
	}
}

func (c *client) openLockFile(bundle int64, source, versions string) (*dependenciespb.OpenDependencyLockFile_Response, error) {
	return c.dependencies.OpenDependencyLockFile(c.t.Context(), &dependenciespb.OpenDependencyLockFile_Request{
		SourceBundleHandle: bundle, SourceAddress: &terraform1.SourceAddress{Source: source, Versions: versions},
	})
}

func (c *client) closeLocks(handle int64) error {
	_, err := c.dependencies.CloseDependencyLocks(c.t.Context(), &dependenciespb.CloseDependencyLocks_Request{DependencyLocksHandle: handle})
	return err
}

func (c *client) locked(handle int64) []*terraform1.ProviderPackage {
	c.t.Helper()
	return must[*dependenciespb.GetLockedProviderDependencies_Response](c.t)(c.dependencies.GetLockedProviderDependencies(c.t.Context(),
		&dependenciespb.GetLockedProviderDependencies_Request{DependencyLocksHandle: handle})).GetSelectedProviders()
}

const (
	someHash = "zh:0000000000000000000000000000000000000000000000000000000000000001"
	lockFile = `provider "example.com/foo/bar" {
  version = "1.2.3"
  hashes  = ["` + someHash + `"]
}
`
)

var someLock = &terraform1.ProviderPackage{SourceAddr: "example.com/foo/bar", Version: "1.2.3", Hashes: []string{someHash}}

// writePackages makes a bundle with a remote package and a module of a registry in two versions,
// each with a lock file.
func writePackages(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "terraform-sources.json"), `{
		"terraform_source_bundle": 1,
		"packages": [
			{"source": "git::https://example.com/foo.git", "local": "foo", "meta": {}},
			{"source": "git::https://example.com/old.git", "local": "old", "meta": {}}
		],
		"registry": [{"source": "example.com/acme/net/cloud", "versions": {
			"1.0.0": {"source": "git::https://example.com/old.git", "deprecation": null},
			"1.2.0": {"source": "git::https://example.com/foo.git", "deprecation": null},
			"2.0.0": {"source": "git::https://example.com/old.git", "deprecation": null}
		}}],
		"components": []
	}`)
	writeFile(t, filepath.Join(dir, "foo", ".terraform.lock.hcl"), lockFile)
	writeFile(t, filepath.Join(dir, "old", ".terraform.lock.hcl"), "")
	return dir
}

func testLockFileInBundle(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "stack", ".terraform.lock.hcl"), lockFile)
	c := open(t, options{dir: dir})
	bundle := c.openBundle(writePackages(t))
	for _, address := range []*terraform1.SourceAddress{
		{Source: "git::https://example.com/foo.git//.terraform.lock.hcl"},
		{Source: "example.com/acme/net/cloud//.terraform.lock.hcl", Versions: "~> 1.0"},
		{Source: "./stack/.terraform.lock.hcl"},
	} {
		response := must[*dependenciespb.OpenDependencyLockFile_Response](t)(c.openLockFile(bundle, address.GetSource(), address.GetVersions()))
		if response.GetDependencyLocksHandle() == 0 || len(response.GetDiagnostics()) > 0 {
			t.Errorf("%s: %v", address, response)
			continue
		}
		got := c.locked(response.GetDependencyLocksHandle())
		if diff := gocmp.Diff([]*terraform1.ProviderPackage{someLock}, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		wantCode(t, c.closeLocks(response.GetDependencyLocksHandle()), codes.OK)
	}
}

func testLockFileAddresses(t *testing.T) {
	c := open(t, options{})
	bundle := c.openBundle(writePackages(t))
	for name, address := range map[string]*terraform1.SourceAddress{
		"bare word":                     {Source: "stack"},
		"nothing":                       {},
		"versions of a remote source":   {Source: "git::https://example.com/foo.git//.terraform.lock.hcl", Versions: "1.0.0"},
		"versions of a local source":    {Source: "./.terraform.lock.hcl", Versions: "1.0.0"},
		"package that is not there":     {Source: "git::https://example.com/other.git//.terraform.lock.hcl"},
		"version that is not there":     {Source: "example.com/acme/net/cloud//.terraform.lock.hcl", Versions: "3.0.0"},
		"versions that cannot be":       {Source: "example.com/acme/net/cloud//.terraform.lock.hcl", Versions: "a lot"},
		"registry module not in bundle": {Source: "example.com/acme/other/cloud//.terraform.lock.hcl"},
	} {
		_, err := c.openLockFile(bundle, address.GetSource(), address.GetVersions())
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
	_, err := c.openLockFile(bundle+1, "./.terraform.lock.hcl", "")
	wantCode(t, err, codes.InvalidArgument)
}

func testBadLockFiles(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bad.hcl"), "provider \"x\" {")
	c := open(t, options{dir: dir})
	bundle := c.openBundle("")
	for _, source := range []string{"./none.hcl", "./bad.hcl"} {
		response := must[*dependenciespb.OpenDependencyLockFile_Response](t)(c.openLockFile(bundle, source, ""))
		if response.GetDependencyLocksHandle() != 0 || !hasError(response.GetDiagnostics()) {
			t.Errorf("%s: %v, want an error and handle 0", source, response)
		}
		for _, diagnostic := range response.GetDiagnostics() {
			if name := diagnostic.GetSubject().GetSourceAddr(); name != "" && filepath.Base(name) != filepath.Base(source) {
				t.Errorf("%s: a diagnostic is about %s", source, name)
			}
		}
	}
}

// hasError reports whether one of the diagnostics is an error.
func hasError(diags []*terraform1.Diagnostic) bool {
	return slices.ContainsFunc(diags, func(d *terraform1.Diagnostic) bool { return d.GetSeverity() == terraform1.Diagnostic_ERROR })
}

func (c *client) createLocks(providers ...*terraform1.ProviderPackage) (int64, error) {
	response, err := c.dependencies.CreateDependencyLocks(c.t.Context(),
		&dependenciespb.CreateDependencyLocks_Request{ProviderSelections: providers})
	return response.GetDependencyLocksHandle(), err
}

func testCreateLocks(t *testing.T) {
	c := open(t, options{})
	short := &terraform1.ProviderPackage{SourceAddr: "acme/cloud", Version: "2.0.0-beta1", Hashes: []string{someHash}}
	full := &terraform1.ProviderPackage{SourceAddr: "registry.terraform.io/acme/cloud", Version: "2.0.0-beta1", Hashes: []string{someHash}}
	handle := must[int64](t)(c.createLocks(short, someLock))
	if diff := gocmp.Diff([]*terraform1.ProviderPackage{someLock, full}, c.locked(handle), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := must[int64](t)(c.createLocks())
	if got := c.locked(none); len(got) > 0 || none == handle {
		t.Errorf("empty locks with handle %d, after %d: %v", none, handle, got)
	}
	wantCode(t, c.closeLocks(handle), codes.OK)
	_, err := c.dependencies.GetLockedProviderDependencies(t.Context(),
		&dependenciespb.GetLockedProviderDependencies_Request{DependencyLocksHandle: handle})
	wantCode(t, err, codes.InvalidArgument)
}

func testImpossibleLocks(t *testing.T) {
	c := open(t, options{})
	for name, providers := range map[string][]*terraform1.ProviderPackage{
		"address":  {{SourceAddr: "a/b/c/d", Version: "1.0.0"}},
		"version":  {{SourceAddr: "acme/cloud", Version: "~> 1.0"}},
		"hash":     {{SourceAddr: "acme/cloud", Version: "1.0.0", Hashes: []string{"hash"}}},
		"repeated": {someLock, someLock},
		"built-in": {{SourceAddr: builtIn, Version: "1.0.0"}},
	} {
		_, err := c.createLocks(providers...)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

// buildCache returns the events of a call.
func (c *client) buildCache(
	request *dependenciespb.BuildProviderPluginCache_Request,
) ([]*dependenciespb.BuildProviderPluginCache_Event, error) {
	c.t.Helper()
	stream, err := c.dependencies.BuildProviderPluginCache(c.t.Context(), request)
	if err != nil {
		return nil, err
	}
	return receiveAll(stream.Recv)
}

// receiveAll receives to the end of a stream.
func receiveAll[T any](receive func() (T, error)) ([]T, error) {
	var events []T
	for {
		event, err := receive()
		if errors.Is(err, io.EOF) {
			return events, nil
		} else if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

func localMirror(dir string) []*dependenciespb.BuildProviderPluginCache_Request_InstallMethod {
	return []*dependenciespb.BuildProviderPluginCache_Request_InstallMethod{
		{Source: &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_LocalMirrorDir{LocalMirrorDir: dir}},
	}
}

// eventNames returns which kinds of events there are, as the protocol calls them.
func eventNames(events []*dependenciespb.BuildProviderPluginCache_Event) []string {
	var names []string
	for _, event := range events {
		field := event.ProtoReflect().WhichOneof(event.ProtoReflect().Descriptor().Oneofs().ByName("event"))
		names = append(names, string(field.Name()))
	}
	return names
}

func testForeignCache(t *testing.T) {
	const platform = "amigaos_m68k"
	mirror, hash := writeMirror(t, platform)
	c := open(t, options{})
	locks := must[int64](t)(c.createLocks(&terraform1.ProviderPackage{
		SourceAddr: "example.com/foo/bar",
		Version:    "1.2.3",
		Hashes:     []string{hash},
	}))
	request := &dependenciespb.BuildProviderPluginCache_Request{
		CacheDir:              filepath.Join(t.TempDir(), "cache"),
		DependencyLocksHandle: locks,
		InstallationMethods:   localMirror(mirror),
		OverridePlatform:      platform,
	}
	events, err := c.buildCache(request)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(eventNames(events), " "), "pending query_begin query_success fetch_begin fetch_complete"; got != want {
		t.Fatalf("events %s, want %s\n%v", got, want, events)
	}
	if expected := events[0].GetPending().GetExpected(); len(expected) != 1 || expected[0].GetSourceAddr() != "example.com/foo/bar" {
		t.Errorf("pending %v", expected)
	}
	if got := events[2].GetQuerySuccess(); got.GetSourceAddr() != "example.com/foo/bar" || got.GetVersion() != "1.2.3" {
		t.Errorf("query_success %v", got)
	}
	if got := events[4].GetFetchComplete().GetProviderVersion(); got.GetSourceAddr() != "example.com/foo/bar" || got.GetVersion() != "1.2.3" {
		t.Errorf("fetch_complete %v", got)
	}
	program := filepath.Join(request.GetCacheDir(), "example.com/foo/bar/1.2.3", platform, "terraform-provider-bar_v1.2.3")
	if _, err := os.Stat(program); err != nil {
		t.Error(err)
	}
	got := c.cached(request.GetCacheDir(), platform)
	if len(got) != 1 || got[0].GetSourceAddr() != "example.com/foo/bar" || got[0].GetVersion() != "1.2.3" || len(got[0].GetHashes()) != 1 ||
		!strings.HasPrefix(got[0].GetHashes()[0], "h1:") {
		t.Errorf("in the cache: %v", got)
	}
	if got := c.cached(request.GetCacheDir(), ""); len(got) > 0 {
		t.Errorf("for this platform: %v", got)
	}
	request.DependencyLocksHandle = must[int64](t)(c.createLocks(got...)) // hashes of archives say nothing about the unpacked files
	again, err := c.buildCache(request)
	if names := eventNames(again); err != nil || !slices.Contains(names, "already_installed") || slices.Contains(names, "fetch_begin") {
		t.Errorf("again: %v, error %v", again, err)
	}
}

// cached returns the packages in a cache for a platform.
func (c *client) cached(dir, platform string) []*terraform1.ProviderPackage {
	c.t.Helper()
	cache := must[*dependenciespb.OpenProviderPluginCache_Response](c.t)(c.dependencies.OpenProviderPluginCache(c.t.Context(),
		&dependenciespb.OpenProviderPluginCache_Request{CacheDir: dir, OverridePlatform: platform})).GetProviderCacheHandle()
	return must[*dependenciespb.GetCachedProviders_Response](c.t)(c.dependencies.GetCachedProviders(c.t.Context(),
		&dependenciespb.GetCachedProviders_Request{ProviderCacheHandle: cache})).GetAvailableProviders()
}

func testEmptyCache(t *testing.T) {
	c := open(t, options{})
	locks := must[int64](t)(c.createLocks())
	events, err := c.buildCache(&dependenciespb.BuildProviderPluginCache_Request{CacheDir: t.TempDir(), DependencyLocksHandle: locks})
	if err != nil || len(events) != 1 || events[0].GetPending() == nil || len(events[0].GetPending().GetExpected()) > 0 {
		t.Errorf("got %v, error %v, want pending with nothing in it", events, err)
	}
}

func testCacheRequests(t *testing.T) {
	c := open(t, options{})
	locks := must[int64](t)(c.createLocks(someLock))
	with := func(change func(*dependenciespb.BuildProviderPluginCache_Request)) *dependenciespb.BuildProviderPluginCache_Request {
		request := &dependenciespb.BuildProviderPluginCache_Request{
			CacheDir: t.TempDir(), DependencyLocksHandle: locks, InstallationMethods: localMirror(t.TempDir()),
		}
		change(request)
		return request
	}
	type request = dependenciespb.BuildProviderPluginCache_Request
	for name, test := range map[string]struct {
		request *request
		want    codes.Code
	}{
		"locks":     {with(func(r *request) { r.DependencyLocksHandle = locks + 1 }), codes.InvalidArgument},
		"platform":  {with(func(r *request) { r.OverridePlatform = "linux" }), codes.InvalidArgument},
		"include":   {with(func(r *request) { r.InstallationMethods[0].Include = []string{"*/*"} }), codes.InvalidArgument},
		"exclude":   {with(func(r *request) { r.InstallationMethods[0].Exclude = []string{"*/*"} }), codes.InvalidArgument},
		"no source": {with(func(r *request) { r.InstallationMethods[0].Source = nil }), codes.Internal},
	} {
		events, err := c.buildCache(test.request)
		if err == nil {
			t.Errorf("%s: no error, events %v", name, events)
		}
		wantCode(t, err, test.want)
	}
}

func testMissingProvider(t *testing.T) {
	c := open(t, options{})
	locks := must[int64](t)(c.createLocks(someLock))
	events, err := c.buildCache(&dependenciespb.BuildProviderPluginCache_Request{
		CacheDir: t.TempDir(), DependencyLocksHandle: locks, InstallationMethods: localMirror(t.TempDir()),
	})
	names := eventNames(events)
	if err != nil || names[0] != "pending" || !slices.Contains(names, "diagnostic") || slices.Contains(names, "fetch_complete") {
		t.Errorf("got %q, error %v, want a diagnostic after pending", names, err)
	}
}

func testOpenCache(t *testing.T) {
	c := open(t, options{})
	if got := c.cached(filepath.Join(t.TempDir(), "none"), ""); len(got) > 0 {
		t.Errorf("a cache that does not exist has %v", got)
	}
	_, err := c.dependencies.OpenProviderPluginCache(t.Context(),
		&dependenciespb.OpenProviderPluginCache_Request{CacheDir: t.TempDir(), OverridePlatform: "linux"})
	wantCode(t, err, codes.InvalidArgument)
	_, err = c.dependencies.GetCachedProviders(t.Context(), &dependenciespb.GetCachedProviders_Request{})
	wantCode(t, err, codes.InvalidArgument)
}

func (c *client) schema(request *dependenciespb.GetProviderSchema_Request) (*dependenciespb.ProviderSchema, error) {
	response, err := c.dependencies.GetProviderSchema(c.t.Context(), request)
	return response.GetSchema(), err
}

func testBuiltInSchema(t *testing.T) {
	c := open(t, options{})
	schema := must[*dependenciespb.ProviderSchema](t)(c.schema(&dependenciespb.GetProviderSchema_Request{ProviderAddr: builtIn}))
	data, remote := schema.GetManagedResourceTypes()["terraform_data"], schema.GetDataResourceTypes()["terraform_remote_state"]
	if schema.GetProviderConfig() == nil || data == nil || remote == nil {
		t.Fatalf("got %v", schema)
	}
	type attribute = dependenciespb.Schema_Attribute
	want := []*attribute{
		{Name: "id", Type: []byte(`"string"`), Computed: true},
		{Name: "input", Type: []byte(`"dynamic"`), Optional: true},
		{Name: "output", Type: []byte(`"dynamic"`), Computed: true},
		{Name: "triggers_replace", Type: []byte(`"dynamic"`), Optional: true},
	}
	diff := gocmp.Diff(want, data.GetBlock().GetAttributes(), protocmp.Transform(), protocmp.IgnoreFields(&attribute{}, "description"))
	if diff != "" {
		t.Errorf("terraform_data (-want +got):\n%s", diff)
	}
	var names []string
	for _, a := range remote.GetBlock().GetAttributes() {
		names = append(names, a.GetName())
	}
	if want := []string{"backend", "config", "defaults", "outputs", "workspace"}; !slices.Equal(names, want) {
		t.Errorf("terraform_remote_state has %q, want %q", names, want)
	}
}

// withFake returns locks and a cache with the provider of package testprovider.
func (c *client) withFake() (locks, cache int64) {
	c.t.Helper()
	const address = "registry.terraform.io/cairnstacks/fake"
	dir := c.t.TempDir()
	unhashed := must[int64](c.t)(c.createLocks(&terraform1.ProviderPackage{SourceAddr: address, Version: "1.0.0"}))
	events, err := c.buildCache(&dependenciespb.BuildProviderPluginCache_Request{
		CacheDir: dir, DependencyLocksHandle: unhashed, InstallationMethods: localMirror(testenv.FakeProviderMirror(c.t)),
	})
	if names := eventNames(events); err != nil || slices.Contains(names, "diagnostic") {
		c.t.Fatalf("installing the provider: %v, events %v", err, events)
	}
	installed := c.cached(dir, "")
	if len(installed) != 1 {
		c.t.Fatalf("in the cache: %v", installed)
	}
	cache = must[*dependenciespb.OpenProviderPluginCache_Response](c.t)(c.dependencies.OpenProviderPluginCache(c.t.Context(),
		&dependenciespb.OpenProviderPluginCache_Request{CacheDir: dir})).GetProviderCacheHandle()
	return must[int64](c.t)(c.createLocks(installed...)), cache
}

func testProviderSchema(t *testing.T) {
	c := open(t, options{})
	_, cache := c.withFake()
	request := &dependenciespb.GetProviderSchema_Request{
		ProviderAddr:        "cairnstacks/fake",
		ProviderVersion:     "1.0.0",
		ProviderCacheHandle: cache,
	}
	schema := must[*dependenciespb.ProviderSchema](t)(c.schema(request))
	everything := schema.GetManagedResourceTypes()["fake_everything"].GetBlock()
	attributes := map[string]*dependenciespb.Schema_Attribute{}
	for _, a := range everything.GetAttributes() {
		attributes[a.GetName()] = a
	}
	if got := string(attributes["list"].GetType()); got != `["list","string"]` || !attributes["secret"].GetSensitive() {
		t.Errorf("list has type %s; secret is %v", got, attributes["secret"])
	}
	for name, want := range map[string]dependenciespb.Schema_Object_NestingMode{
		"nested_single": dependenciespb.Schema_Object_SINGLE, "nested_list": dependenciespb.Schema_Object_LIST,
		"nested_set": dependenciespb.Schema_Object_SET, "nested_map": dependenciespb.Schema_Object_MAP,
	} {
		if got := attributes[name]; got.GetNestedType().GetNesting() != want ||
			len(got.GetType()) > 0 || len(got.GetNestedType().GetAttributes()) == 0 {
			t.Errorf("%s is %v, want nesting %s", name, got, want)
		}
	}
	blocks := map[string]dependenciespb.Schema_NestedBlock_NestingMode{}
	for _, b := range everything.GetBlockTypes() {
		blocks[b.GetTypeName()] = b.GetNesting()
	}
	if blocks["single_block"] != dependenciespb.Schema_NestedBlock_SINGLE || blocks["list_block"] != dependenciespb.Schema_NestedBlock_LIST ||
		blocks["set_block"] != dependenciespb.Schema_NestedBlock_SET {
		t.Errorf("blocks are %v", blocks)
	}
	if schema.GetDataResourceTypes()["fake_data"] == nil || schema.GetProviderConfig().GetBlock() == nil {
		t.Errorf("data resources %v, provider %v", schema.GetDataResourceTypes(), schema.GetProviderConfig())
	}
}

func testSchemaRequests(t *testing.T) {
	c := open(t, options{})
	_, cache := c.withFake()
	for name, test := range map[string]struct {
		request *dependenciespb.GetProviderSchema_Request
		want    codes.Code
	}{
		"address": {&dependenciespb.GetProviderSchema_Request{ProviderAddr: "a/b/c/d"}, codes.InvalidArgument},
		"version": {
			&dependenciespb.GetProviderSchema_Request{ProviderAddr: "a/b", ProviderVersion: "x", ProviderCacheHandle: cache},
			codes.InvalidArgument,
		},
		"built-in": {&dependenciespb.GetProviderSchema_Request{ProviderAddr: builtIn, ProviderVersion: "1.0.0"}, codes.InvalidArgument},
		"no cache": {
			&dependenciespb.GetProviderSchema_Request{ProviderAddr: "cairnstacks/fake", ProviderVersion: "1.0.0"},
			codes.InvalidArgument,
		},
		"other built-in": {&dependenciespb.GetProviderSchema_Request{ProviderAddr: "terraform.io/builtin/other"}, codes.Internal},
		"not in a cache": {
			&dependenciespb.GetProviderSchema_Request{ProviderAddr: "a/b", ProviderVersion: "1.0.0", ProviderCacheHandle: cache},
			codes.Internal,
		},
		"another version": {
			&dependenciespb.GetProviderSchema_Request{ProviderAddr: "cairnstacks/fake", ProviderVersion: "2.0.0", ProviderCacheHandle: cache},
			codes.Internal,
		},
	} {
		_, err := c.schema(test.request)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantCode(t, err, test.want)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/providers/instances"
	providerplugin "github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// serveVariable makes the program of the tests the fake provider.
const serveVariable = "CAIRN_TEST_SERVE"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(behaviourVariable); behaviour != "" {
		serveOdd(behaviour)
		return
	}
	if os.Getenv(serveVariable) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := testprovider.Serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is the main function of a provider
	}
}

// run is a pool with the fake provider, and a record of its calls.
type run struct {
	*instances.Pool
	pkg   instances.Package
	calls string
}

func newRun(t *testing.T, opts instances.Options) run {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	calls := filepath.Join(t.TempDir(), "calls")
	opts.Environ = append(append(os.Environ(), opts.Environ...), serveVariable+"=1", testprovider.CallsVariable+"="+calls)
	pool, err := instances.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	address := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}
	return run{pool, instances.Package{Address: address, Program: program, Hash: "h1:fake"}, calls}
}

// count returns how often the provider was asked for something, and by how many processes.
func (r run) count(t *testing.T, rpc string) (calls, processes int) {
	t.Helper()
	recorded, err := testprovider.ReadCalls(r.calls)
	if err != nil {
		t.Fatal(err)
	}
	pids := map[int]bool{}
	for _, call := range recorded {
		if call.RPC == rpc {
			calls++
			pids[call.PID] = true
		}
	}
	return calls, len(pids)
}

// config returns a configuration of the provider with some arguments.
func (r run) config(t *testing.T, args map[string]cty.Value) instances.Configuration {
	t.Helper()
	schema, diags := r.Schema(t.Context(), r.pkg)
	if schema == nil {
		t.Fatalf("Schema: %+v", diags)
	}
	attrs := schema.Config.Block.Empty().AsValueMap()
	for name, v := range args {
		attrs[name] = v
	}
	return instances.Configuration{Value: cty.ObjectVal(attrs), Name: "provider.fake.a", Phase: "plan", TerraformVersion: "1.11.4"}
}

func region(v cty.Value) map[string]cty.Value { return map[string]cty.Value{"region": v} }

func (r run) lease(t *testing.T, config instances.Configuration) *instances.Lease {
	t.Helper()
	lease, diags := r.Configured(t.Context(), r.pkg, config)
	if lease == nil || len(diags) > 0 {
		t.Fatalf("Configured: %+v", diags)
	}
	t.Cleanup(lease.Release)
	return lease
}

// Rule S1.
func TestSharing(t *testing.T) {
	here, there := cty.StringVal("here"), cty.StringVal("there")
	unknown, ephemeral := cty.UnknownVal(cty.String), here.Mark(marks.Ephemeral)
	with := func(name, phase string) func(*instances.Configuration) {
		return func(c *instances.Configuration) { c.Name, c.Phase = name, phase }
	}
	tests := map[string]struct {
		a, b   cty.Value
		change func(*instances.Configuration) // of b
		shared bool
	}{
		"equal":                       {here, here, nil, true},
		"equal under other names":     {here, here, with("provider.fake.b", "apply"), true},
		"sensitive":                   {here, here.Mark(marks.Sensitive), nil, true},
		"different":                   {here, there, nil, false},
		"null":                        {here, cty.NullVal(cty.String), nil, false},
		"unknown":                     {unknown, unknown, nil, true},
		"unknown, another name":       {unknown, unknown, with("provider.fake.b", "plan"), false},
		"unknown, another phase":      {unknown, unknown, with("provider.fake.a", "apply"), false},
		"unknown and known":           {unknown, here, nil, false},
		"ephemeral":                   {ephemeral, ephemeral, nil, true},
		"ephemeral, another name":     {ephemeral, ephemeral, with("provider.fake.b", "plan"), false},
		"ephemeral, another value":    {ephemeral, there.Mark(marks.Ephemeral), nil, false},
		"ephemeral and known":         {ephemeral, here, nil, false},
		"different ways of deferring": {here, here, func(c *instances.Configuration) { c.DeferralAllowed = true }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, instances.Options{})
			b := r.config(t, region(test.b))
			if test.change != nil {
				test.change(&b)
			}
			first, second := r.lease(t, r.config(t, region(test.a))), r.lease(t, b)
			if shared := first.Provider == second.Provider; shared != test.shared {
				t.Errorf("shared: %t, want %t", shared, test.shared)
			}
		})
	}
}

// Callers that need the same at the same time get one process, which stays for later ones.
func TestOneProcess(t *testing.T) {
	r := newRun(t, instances.Options{})
	config := r.config(t, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			lease, diags := r.Configured(t.Context(), r.pkg, config)
			if lease == nil {
				t.Errorf("Configured: %+v", diags)
				return
			}
			lease.Release()
		})
	}
	all.Wait()
	r.lease(t, config)
	if calls, processes := r.count(t, "ConfigureProvider"); calls != 1 || processes != 1 {
		t.Errorf("%d calls of ConfigureProvider in %d processes, want one", calls, processes)
	}
}

// Rule S3. A process works in an empty directory, or in the one that it is asked for, and then ends
// with its last user (rule S7).
func TestWorkDir(t *testing.T) {
	r := newRun(t, instances.Options{EmptyDir: filepath.Join(t.TempDir(), "work", "empty")})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "name"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(lease *instances.Lease) (string, bool) {
		config := cty.ObjectVal(map[string]cty.Value{"filename": cty.StringVal("name"), "result": cty.NullVal(cty.String)})
		response := lease.Provider.ReadData(t.Context(), provider.ReadDataRequest{Type: "fake_content", Config: config})
		if response.Diagnostics.HasErrors() {
			return "", false
		}
		return response.State.GetAttr("result").AsString(), true
	}
	config := r.config(t, nil)
	shared := r.lease(t, config)
	defer shared.Release()
	if got, ok := read(shared); ok {
		t.Errorf("the shared process read %q", got)
	}
	config.WorkDir = dir
	for range 2 {
		first, second := r.lease(t, config), r.lease(t, config)
		if got, ok := read(first); !ok || got != "content" {
			t.Errorf("the process in the directory read %q, %t", got, ok)
		}
		first.Release()
		if got, ok := read(second); !ok || got != "content" {
			t.Errorf("after one of its users has left, the process in the directory read %q, %t", got, ok)
		}
		second.Release()
	}
	if _, processes := r.count(t, "ConfigureProvider"); processes != 3 {
		t.Errorf("there were %d processes with the configuration, want 3", processes)
	}
}

func TestLimit(t *testing.T) {
	r := newRun(t, instances.Options{MaxProcesses: 2})
	a, b, c := r.config(t, region(cty.StringVal("a"))), r.config(t, region(cty.StringVal("b"))), r.config(t, region(cty.StringVal("c")))
	before := r.lease(t, r.config(t, region(cty.StringVal("x"))))
	idle := before.Provider
	before.Release()

	first, second := r.lease(t, a), r.lease(t, b)
	if !exited(idle) {
		t.Error("the idle process did not make room")
	}
	third := r.lease(t, c) // nothing is idle
	for name, lease := range map[string]*instances.Lease{"a": first, "b": second, "c": third} {
		if exited(lease.Provider) {
			t.Errorf("process %s was ended while it was in use", name)
		}
	}
	second.Release()
	first.Release()
	again := r.lease(t, b)
	if again.Provider != second.Provider {
		t.Error("an idle process was not used again")
	}
}

// Rule S9.
func TestTakeOver(t *testing.T) {
	r := newRun(t, instances.Options{})
	a, b := r.config(t, region(cty.StringVal("a"))), r.config(t, region(cty.StringVal("b")))
	unconfigured := func() *instances.Lease {
		t.Helper()
		lease, diags := r.Unconfigured(t.Context(), r.pkg)
		if lease == nil {
			t.Fatalf("Unconfigured: %+v", diags)
		}
		t.Cleanup(lease.Release)
		return lease
	}
	used := unconfigured()
	first := r.lease(t, a)
	if first.Provider == used.Provider {
		t.Error("a process was configured while it was in use without a configuration")
	}
	used.Release()
	if second := r.lease(t, b); second.Provider != used.Provider {
		t.Error("the idle process was not configured")
	}
	if again := unconfigured(); again.Provider == used.Provider {
		t.Error("a configured process was used as one that is not")
	}
}

// Any instance that runs can be asked to validate.
func TestAny(t *testing.T) {
	r := newRun(t, instances.Options{})
	configured := r.lease(t, r.config(t, nil))
	lease, diags := r.Any(t.Context(), r.pkg)
	if lease == nil {
		t.Fatalf("Any: %+v", diags)
	}
	defer lease.Release()
	if lease.Provider != configured.Provider {
		t.Error("another process was started")
	}
}

func exited(p provider.Provider) bool { return p.(interface{ Exited() bool }).Exited() }

// Rule S4.
func TestCrash(t *testing.T) {
	r := newRun(t, instances.Options{})
	config := r.config(t, nil)
	lease, other := r.lease(t, config), r.lease(t, r.config(t, region(cty.StringVal("x"))))
	block := lease.Provider.Schema().Managed["fake_failing"].Block
	attrs := block.Empty().AsValueMap()
	attrs["panic_on"] = cty.StringVal("plan")
	obj := cty.ObjectVal(attrs)
	planned := lease.Provider.Plan(t.Context(), provider.PlanRequest{Type: "fake_failing", Proposed: obj, Config: obj})
	if !planned.Diagnostics.HasErrors() || !strings.Contains(planned.Diagnostics[0].Detail, "asked to crash here") {
		t.Errorf("Plan: %+v, want the last words", planned.Diagnostics)
	}
	if next := r.lease(t, config); next.Provider == lease.Provider || exited(next.Provider) {
		t.Error("the process that has crashed was not replaced")
	}
	if again := r.lease(t, r.config(t, region(cty.StringVal("x")))); again.Provider != other.Provider {
		t.Error("another process was replaced, too")
	}
}

// Rule S5.
func TestRefused(t *testing.T) {
	r := newRun(t, instances.Options{})
	config := r.config(t, map[string]cty.Value{"configure_error": cty.StringVal("no")})
	for range 2 {
		lease, diags := r.Configured(t.Context(), r.pkg, config)
		if lease != nil || !diags.HasErrors() || diags[0].Detail != "no" {
			t.Errorf("Configured: %+v, want the error of the provider", diags)
		}
	}
	if calls, _ := r.count(t, "ConfigureProvider"); calls != 1 {
		t.Errorf("%d calls of ConfigureProvider, want one", calls)
	}
	used := r.lease(t, r.config(t, nil)) // which is configured, too
	config.Phase = "apply"
	for _, want := range []int{2, 3} { // still in use, and not any more
		if lease, diags := r.Configured(t.Context(), r.pkg, config); lease != nil || !diags.HasErrors() {
			t.Errorf("Configured: %+v, want the error of the provider", diags)
		}
		if calls, _ := r.count(t, "ConfigureProvider"); calls != want {
			t.Errorf("%d calls of ConfigureProvider, want %d", calls, want)
		}
		used.Release()
	}
}

// A configuration is validated before the provider is configured with it.
func TestInvalidConfiguration(t *testing.T) {
	r := newRun(t, instances.Options{})
	block := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(testprovider.Refused), "value": cty.NullVal(cty.String)})
	lease, diags := r.Configured(t.Context(), r.pkg, r.config(t, map[string]cty.Value{"single_block": block}))
	if want := cty.GetAttrPath("single_block").GetAttr("name"); lease != nil || len(diags) != 1 || !diags[0].Path.Equals(want) {
		t.Errorf("Configured: %+v, want one error at single_block.name", diags)
	}
	if calls, _ := r.count(t, "ConfigureProvider"); calls != 0 {
		t.Error("the provider was configured all the same")
	}
}

func TestNotStarted(t *testing.T) {
	r := newRun(t, instances.Options{})
	r.pkg.Program = filepath.Join(t.TempDir(), "none")
	if lease, diags := r.Unconfigured(t.Context(), r.pkg); lease != nil ||
		!diags.HasErrors() || !strings.Contains(diags[0].Detail, "could not be started") {
		t.Errorf("Unconfigured: %+v", diags)
	}
}

// A caller that gives up while a provider is started does not spoil it for others.
func TestGivenUp(t *testing.T) {
	r := newRun(t, instances.Options{})
	config := r.config(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time"))
	if lease, diags := r.Configured(ctx, r.pkg, config); lease != nil || !strings.Contains(fmt.Sprint(diags), "no time") {
		t.Errorf("Configured: %+v, want the cause", diags)
	}
	r.lease(t, config)
}

// A process that a debugger has started is used as it is, with the short address, and stays.
func TestReattach(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	configs, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		err := tf6server.Serve(testprovider.Address, testprovider.New, tf6server.WithDebug(ctx, configs, closed),
			tf6server.WithoutLogStderrOverride())
		if err != nil {
			t.Error(err)
		}
	}()
	config := <-configs
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	named := fmt.Sprintf(`{"cairnstacks/fake":{"Protocol":"grpc","ProtocolVersion":6,"Pid":%d,"Test":true,"Addr":{"Network":%q,"String":%q}}}`,
		config.Pid, config.Addr.Network(), config.Addr.String())
	r := newRun(t, instances.Options{Environ: []string{providerplugin.ReattachVariable + "=" + named}})
	r.pkg.Program, r.pkg.Hash = "", ""
	if !r.Unmanaged(r.pkg.Address) || r.Unmanaged(stackaddrs.BuiltinProvider) {
		t.Error("Unmanaged is wrong")
	}
	lease := r.lease(t, r.config(t, nil))
	if got, err := lease.Provider.CallFunction(t.Context(), "echo", []cty.Value{cty.True}); err != nil || !got.RawEquals(cty.True) {
		t.Errorf("CallFunction: got %#v, error %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := lease.Provider.CallFunction(t.Context(), "echo", []cty.Value{cty.True}); err == nil {
		t.Error("the connection is still open after the pool was closed")
	}
}

func TestInvalidReattach(t *testing.T) {
	for _, named := range []string{"{", `{"a/b/c/d":{"Addr":{"Network":"unix"}}}`} {
		if _, err := instances.New(instances.Options{Environ: []string{providerplugin.ReattachVariable + "=" + named}}); err == nil {
			t.Errorf("New with %s: no error", named)
		}
	}
}

// Rule S6.
func TestStop(t *testing.T) {
	r := newRun(t, instances.Options{})
	config := r.config(t, nil)
	first, second, third := r.lease(t, config), r.lease(t, config), r.lease(t, config)
	for _, lease := range []*instances.Lease{first, first, second} {
		if err := lease.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if calls, _ := r.count(t, "StopProvider"); calls != 0 {
		t.Error("the provider was stopped while somebody uses it")
	}
	third.Release()
	if calls, _ := r.count(t, "StopProvider"); calls != 1 {
		t.Errorf("%d calls of StopProvider, want one", calls)
	}
	if next := r.lease(t, config); next.Provider == first.Provider {
		t.Error("a process that was stopped is used again")
	}
	first.Release()
	second.Release()
	if !exited(first.Provider) {
		t.Error("a process that was stopped stays")
	}
}

// Rule S7.
func TestSchema(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "schemas")
	asked := func() int {
		t.Helper()
		r := newRun(t, instances.Options{SchemaDir: dir})
		config := r.config(t, nil)
		r.lease(t, config)
		r.lease(t, r.config(t, region(cty.StringVal("x"))))
		if schema, diags := r.Schema(t.Context(), r.pkg); schema == nil ||
			schema.Identities["fake_identity"] == nil || schema.Functions["echo"] == nil {
			t.Errorf("Schema: got %+v, diagnostics %+v", schema, diags)
		}
		calls, _ := r.count(t, "GetProviderSchema")
		return calls
	}
	if calls := asked(); calls != 1 {
		t.Errorf("without files: asked %d times, want once", calls)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %q, error %v, want one", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: %v, error %v", info.Mode(), err)
	}
	if calls := asked(); calls != 0 {
		t.Errorf("with a file: asked %d times, want never", calls)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"empty":   nil,
		"cut":     content[:len(content)/2],
		"changed": slices.Concat(content[:len(content)-1], []byte{content[len(content)-1] ^ 1}),
		"other":   []byte(strings.Repeat("x", 1000)),
	} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if calls := asked(); calls != 1 {
			t.Errorf("with a file that is %s: asked %d times, want once", name, calls)
		}
	}
}

func TestBuiltIn(t *testing.T) {
	pool, err := instances.New(instances.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close() //nolint:errcheck // there are no processes
	pkg := instances.Package{Address: stackaddrs.BuiltinProvider}
	if allocated := testing.AllocsPerRun(10, func() {
		lease, _ := pool.Configured(context.Background(), pkg, instances.Configuration{Value: cty.EmptyObjectVal})
		lease.Release()
	}); allocated > 2 { // the lease, and the provider for a directory
		t.Errorf("configuring the built-in provider allocates %g times", allocated)
	}
	if schema, _ := pool.Schema(t.Context(), pkg); schema.Managed["terraform_data"] == nil {
		t.Error("there is no terraform_data")
	}
}

func TestClosed(t *testing.T) {
	r := newRun(t, instances.Options{})
	lease := r.lease(t, r.config(t, nil))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !exited(lease.Provider) {
		t.Error("the process has not ended")
	}
	if diags := lease.Provider.ValidateConfig(t.Context(), cty.EmptyObjectVal); !diags.HasErrors() {
		t.Error("the provider still answers")
	}
	if lease, diags := r.Unconfigured(t.Context(), r.pkg); lease != nil || !strings.Contains(fmt.Sprint(diags), "shut down") {
		t.Errorf("Unconfigured: %+v", diags)
	}
}

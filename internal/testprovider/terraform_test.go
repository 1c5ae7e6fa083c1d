// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// workspace is a root module in a directory of its own, with a store of objects and a record of
// calls, for the engine that is installed.
type workspace struct {
	engine string
	dir    string
	env    []string
	store  testprovider.Store
	calls  string
}

const requirements = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`

// newWorkspace initialises a root module of the given text.
func newWorkspace(t *testing.T, module string) *workspace {
	t.Helper()
	dir := t.TempDir()
	w := &workspace{
		engine: testenv.Engine(t),
		dir:    dir,
		store:  testprovider.Store{Dir: filepath.Join(dir, "objects")},
		calls:  filepath.Join(dir, "calls"),
	}
	w.env = append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t)),
		"CHECKPOINT_DISABLE=1",
		"TF_INPUT=0",
		testprovider.StoreVariable+"="+w.store.Dir,
		testprovider.CallsVariable+"="+w.calls,
	)
	w.write(t, module)
	w.must(t, "init", "-no-color")
	return w
}

// write replaces the module's text.
func (w *workspace) write(t *testing.T, module string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(requirements+module), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *workspace) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := testenv.Command(t, w.engine, args...)
	cmd.Dir = w.dir
	cmd.Env = w.env
	return cmd
}

// must runs the engine, terraform or tofu, which has to succeed, and returns its output.
func (w *workspace) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// mustFail runs the engine, which has to fail with all of the wanted texts in its output, line
// breaks aside.
func (w *workspace) mustFail(t *testing.T, args []string, want ...string) {
	t.Helper()
	out, err := w.command(t, args...).CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) {
		t.Fatalf("%s: got error %v, want a failure\n%s", strings.Join(args, " "), err, out)
	}
	flat := strings.Join(strings.FieldsFunc(string(out), func(r rune) bool {
		return strings.ContainsRune(" \n│", r)
	}), " ")
	for _, text := range want {
		if !strings.Contains(flat, text) {
			t.Errorf("%s: no %q in its output:\n%s", strings.Join(args, " "), text, out)
		}
	}
}

var (
	plan    = []string{"plan", "-no-color"}
	apply   = []string{"apply", "-no-color", "-auto-approve"}
	destroy = []string{"destroy", "-no-color", "-auto-approve"}
	noDiff  = []string{"plan", "-no-color", "-detailed-exitcode"}
)

// output returns the root module's outputs as JSON by name, also after a plan that is in the file
// "tfplan".
func (w *workspace) output(t *testing.T) map[string]any {
	t.Helper()
	cmd := w.command(t, "output", "-json")
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("output: %s", err)
	}
	var outputs map[string]struct{ Value any }
	if err := json.Unmarshal(raw, &outputs); err != nil {
		t.Fatalf("output: %s", err)
	}
	values := make(map[string]any)
	for name, output := range outputs {
		values[name] = output.Value
	}
	return values
}

// takeCalls returns the calls recorded since it was last called.
func (w *workspace) takeCalls(t *testing.T) []testprovider.Call {
	t.Helper()
	calls, err := testprovider.ReadCalls(w.calls)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.calls); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return calls
}

func (w *workspace) object(t *testing.T, id string) *testprovider.Object {
	t.Helper()
	obj, err := w.store.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestTerraformValuesOfEveryType(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_everything" "a" {
  id     = "a"
  string = "s"
  number = 1.5
  bool   = true
  list   = ["y", "x"]
  set    = ["y", "x"]
  map    = { k = "v" }
  object = { name = "n", size = 3 }
  tuple  = ["t", 1, false]
  dynamic = { any = ["thing", 1] }
  secret = "not to be shown"
  nested_single = { name = "one" }
  nested_list   = [{ name = "one", value = "1" }, { name = "two" }]
  nested_set    = [{ name = "one" }]
  nested_map    = { k = { name = "one" } }
  single_block { name = "b" }
  list_block {
    name = "b1"
    inner { name = "i" }
  }
  list_block { name = "b2" }
  set_block { name = "b" }
}

resource "fake_everything" "b" {
  id     = "b"
  string = fake_everything.a.computed_string
  number = fake_everything.a.computed_number
  bool   = fake_everything.a.computed_bool
  list   = fake_everything.a.computed_list
  set    = fake_everything.a.computed_set
  map    = fake_everything.a.computed_map
  object = fake_everything.a.computed_object
  dynamic = fake_everything.a.dynamic
}

output "all" {
  value = [for name in ["string", "number", "bool", "list", "set", "map", "object"] : fake_everything.b["computed_${name}"]]
}
output "dynamic" {
  value = fake_everything.b.dynamic
}
output "nested" {
  value = [fake_everything.a.nested_single, fake_everything.a.nested_list, fake_everything.a.nested_map.k.name, fake_everything.a.list_block[0].inner[0].name]
}
`)
	if out := w.must(t, plan...); strings.Contains(out, "not to be shown") ||
		!strings.Contains(out, "+ computed_list   = (known after apply)") {
		t.Errorf("plan shows the secret or knows what it cannot:\n%s", out)
	}
	w.must(t, apply...)
	want := map[string]any{
		"all": []any{
			"s", 1.5, true,
			[]any{"y", "x"},
			[]any{"x", "y"},
			map[string]any{"k": "v"},
			map[string]any{"name": "n", "size": 3.0},
		},
		"dynamic": map[string]any{"any": []any{"thing", 1.0}},
		"nested": []any{
			map[string]any{"name": "one", "value": nil},
			[]any{map[string]any{"name": "one", "value": "1"}, map[string]any{"name": "two", "value": nil}},
			"one", "i",
		},
	}
	if diff := cmp.Diff(want, w.output(t)); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	w.must(t, noDiff...)
	w.must(t, destroy...)
	if ids, err := w.store.List(); err != nil || len(ids) > 0 {
		t.Errorf("objects after destroy: %q, error %v; want none", ids, err)
	}
}

func TestTerraformDrift(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_resource" "changed" {
  id    = "changed"
  value = "old"
}
resource "fake_resource" "removed" {
  id = "removed"
}
`)
	w.must(t, apply...)
	obj := w.object(t, "changed")
	obj.Values["value"] = json.RawMessage(`"drifted"`)
	if err := w.store.Put(obj); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Delete("removed"); err != nil {
		t.Fatal(err)
	}
	out := w.must(t, plan...)
	for _, want := range []string{`"drifted" -> "old"`, "fake_resource.removed will be created", "Plan: 1 to add, 1 to change, 0 to destroy"} {
		if !strings.Contains(out, want) {
			t.Errorf("plan has no %q:\n%s", want, out)
		}
	}
}

func TestTerraformUpdateAndReplace(t *testing.T) {
	t.Parallel()
	module := func(region, value, replaceOn string) string {
		return `
provider "fake" {
  region = "` + region + `"
}
resource "fake_computed" "a" {
  value      = "` + value + `"
  replace_on = "` + replaceOn + `"
}
output "a" {
  value = fake_computed.a
}
`
	}
	w := newWorkspace(t, module("eu", "1", "x"))
	steps := []struct {
		module   string
		replaced bool
		want     map[string]any
	}{
		{module("eu", "1", "x"), true, map[string]any{"value": "1", "result": "1", "replace_on": "x", "revision": 1.0, "region": "eu"}},
		{module("eu", "2", "x"), false, map[string]any{"value": "2", "result": "2", "replace_on": "x", "revision": 2.0, "region": "eu"}},
		{module("eu", "2", "y"), true, map[string]any{"value": "2", "result": "2", "replace_on": "y", "revision": 1.0, "region": "eu"}},
		{module("us", "2", "y"), true, map[string]any{"value": "2", "result": "2", "replace_on": "y", "revision": 1.0, "region": "us"}},
	}
	lastID := ""
	for _, step := range steps {
		w.write(t, step.module)
		w.must(t, apply...)
		w.must(t, noDiff...)
		got := w.output(t)["a"].(map[string]any)
		id := got["id"].(string)
		delete(got, "id")
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("after applying %s (-want +got):\n%s", step.module, diff)
		}
		if replaced := id != lastID; replaced != step.replaced {
			t.Errorf("after applying %s: replaced is %t, want %t", step.module, replaced, step.replaced)
		}
		if got := w.object(t, id).Region; got != step.want["region"] {
			t.Errorf("object made in region %q, want %q", got, step.want["region"])
		}
		lastID = id
	}
}

func TestTerraformFailures(t *testing.T) {
	t.Parallel()
	resource := func(typ, arguments string) string {
		return "resource \"" + typ + "\" \"a\" {\n  id = \"a\"\n" + arguments + "\n}\n"
	}
	// Of a crash, Terraform reports the request it was serving; the rest of the message varies.
	tests := map[string]struct {
		module string
		args   []string
		want   []string
	}{
		"plan":    {resource("fake_failing", "fail_plan = true"), plan, []string{"Planning failed", "fail_plan is true"}},
		"apply":   {resource("fake_failing", "fail_apply = true"), apply, []string{"Applying failed", "fail_apply is true"}},
		"blocked": {resource("fake_blocked", `required_resources = ["b"]`), apply, []string{`required objects do not exist: ["b"]`}},
		"crash":   {resource("fake_failing", `panic_on = "plan"`), plan, []string{"GRPCProvider).PlanResourceChange"}},
		"configure": {
			"provider \"fake\" {\n  configure_error = \"no thanks\"\n}\n" + resource("fake_resource", ""), plan,
			[]string{"Provider configuration failed", "no thanks"},
		},
		"configure crash": {
			"provider \"fake\" {\n  panic_on = \"configure\"\n}\n" + resource("fake_resource", ""), plan,
			[]string{"GRPCProvider).ConfigureProvider"},
		},
		"region": {
			"provider \"fake\" {\n  region = \"refused\"\n}\n" + resource("fake_resource", ""), plan,
			[]string{"refused", "There is no region like that", "in provider \"fake\""},
		},
		"nested name": {
			"provider \"fake\" {\n  list_block {}\n  list_block {\n    name = \"refused\"\n  }\n}\n" + resource("fake_resource", ""),
			plan,
			[]string{"There is no name like that", "line 10"},
		},
		"authentication": {
			"provider \"fake\" {\n  require_auth = true\n  authentication = \"guess\"\n}\n" + resource("fake_resource", ""),
			plan,
			[]string{"authentication has another value than it must have"},
		},
		"data source": {"data \"fake_data\" \"a\" {\n  id = \"a\"\n}\n", plan, []string{"Reading failed", `reading object "a"`}},
		"ephemeral":   {"ephemeral \"fake_ephemeral\" \"a\" {\n  fail_open = true\n}\n", plan, []string{"Opening failed", "fail_open is true"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, test.module)
			w.mustFail(t, test.args, test.want...)
			if ids, err := w.store.List(); err != nil || len(ids) > 0 {
				t.Errorf("objects: %q, error %v; want none", ids, err)
			}
		})
	}
}

func TestTerraformFailureAfterCreate(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_failing" "a" {
  id                = "a"
  fail_after_create = true
}
`)
	w.mustFail(t, apply, "fail_after_create is true")
	w.object(t, "a")
	if out := w.must(t, plan...); !strings.Contains(out, "is tainted, so ") {
		t.Errorf("the next plan does not replace the tainted object:\n%s", out)
	}
}

func TestTerraformRequiredObjects(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_resource" "a" {
  id = "a"
}
resource "fake_blocked" "b" {
  id                 = "b"
  required_resources = [fake_resource.a.id]
}
`)
	w.must(t, apply...)
	if err := w.store.Delete("a"); err != nil {
		t.Fatal(err)
	}
	w.mustFail(t, destroy, `required objects do not exist: ["a"]`)
}

func TestTerraformMoveBetweenTypes(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_resource" "a" {
  id    = "a"
  value = "v"
}
`)
	w.must(t, apply...)
	w.write(t, `
moved {
  from = fake_resource.a
  to   = fake_deferred.a
}
resource "fake_deferred" "a" {
  id       = "a"
  value    = "v"
  deferred = false
}
`)
	if out := w.must(t, plan...); !strings.Contains(out, "0 to add, 0 to change, 0 to destroy") {
		t.Errorf("the move changes more than the type:\n%s", out)
	}
}

func TestTerraformWithoutDeferral(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
resource "fake_deferred" "a" {
  value    = "v"
  deferred = true
}
output "a" {
  value = fake_deferred.a.result
}
`)
	w.must(t, apply...)
	if got := w.output(t)["a"]; got != "v" {
		t.Errorf("result: got %v, want v", got)
	}
	if out := w.must(t, plan...); !strings.Contains(out, "~ result   = \"v\" -> (known after apply)") {
		t.Errorf("result is known in the next plan:\n%s", out)
	}
}

func TestTerraformEphemeralFunctionAndWriteOnly(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
ephemeral "fake_ephemeral" "token" {
  name = "t"
}
resource "fake_writeonly" "a" {
  id             = "a"
  secret         = ephemeral.fake_ephemeral.token.value
  secret_version = 1
}
data "fake_data" "a" {
  id = fake_writeonly.a.id
}
resource "fake_resource" "b" {
  id    = "b"
  value = "from b"
}
data "fake_data" "b" {
  depends_on = [fake_resource.b]
  id         = "b"
}
output "echo" {
  value = [provider::fake::echo({ k = [1] }), provider::fake::echo(null), provider::fake::echo(data.fake_data.b.value)]
}
`)
	w.must(t, apply...)
	if diff := cmp.Diff(map[string]any{"echo": []any{map[string]any{"k": []any{1.0}}, nil, "from b"}}, w.output(t)); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if got := string(w.object(t, "a").WriteOnly["secret"]); got != `"ephemeral-t"` {
		t.Errorf("write-only secret: got %s, want \"ephemeral-t\"", got)
	}
	state, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(state, []byte("ephemeral-t")) {
		t.Error("the write-only secret is in the state")
	}
	calls := w.takeCalls(t)
	for _, rpc := range []string{"OpenEphemeralResource", "CloseEphemeralResource", "CallFunction", "ReadDataSource"} {
		if testprovider.CountCalls(calls, rpc) == 0 {
			t.Errorf("no call of %s is recorded", rpc)
		}
	}
}

func TestTerraformUnknownProviderConfiguration(t *testing.T) {
	t.Parallel()
	const module = `
resource "terraform_data" "region" {
  input = "eu"
}
provider "fake" {
  region = terraform_data.region.output
  token  = "t"
  map    = { k = "v" }
  list_block {
    name = "n"
    inner { value = "i" }
  }
}
resource "fake_computed" "a" {
  id = "a"
}
`
	w := newWorkspace(t, module)
	if out := w.must(t, plan...); !strings.Contains(out, "+ region   = (known after apply)") {
		t.Errorf("plan knows the region:\n%s", out)
	}
	unknown := configurations(w.takeCalls(t))
	if len(unknown) != 1 || !slices.Equal(unknown[0].Unknown, []string{".region"}) {
		t.Errorf("configurations of the plan: got %+v, want one with .region unknown", unknown)
	}
	w.must(t, apply...)
	for _, call := range configurations(w.takeCalls(t)) {
		if len(call.Unknown) > 0 {
			continue // the plan that precedes applying
		}
		var got struct {
			Region, Token string
			Map           map[string]string
			ListBlock     []struct{ Name string } `json:"list_block"`
		}
		if err := json.Unmarshal(call.Config, &got); err != nil {
			t.Fatal(err)
		}
		if got.Region != "eu" || got.Token != "t" || got.Map["k"] != "v" || len(got.ListBlock) != 1 || got.ListBlock[0].Name != "n" {
			t.Errorf("configuration when applying: got %s", call.Config)
		}
	}
	if got := w.object(t, "a").Region; got != "eu" {
		t.Errorf("object made in region %q, want eu", got)
	}

	// Objects are not read with a configuration that is not known.
	w.write(t, strings.Replace(module, `"eu"`, `"us"`, 1))
	w.mustFail(t, plan, "is not known yet")
	w.must(t, "plan", "-refresh=false")
}

func configurations(calls []testprovider.Call) []testprovider.Call {
	return slices.DeleteFunc(calls, func(call testprovider.Call) bool { return call.RPC != "ConfigureProvider" })
}

// TestTerraformInterrupt interrupts the engine while an object is being created, which a gate holds
// up.
func TestTerraformInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
variable "gate" {}
resource "fake_slow" "a" {
  id          = "a"
  create_gate = var.gate
}
`)
	gate := filepath.Join(w.dir, "gate")
	cmd := w.command(t, append(slices.Clone(apply), "-var=gate="+gate)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for reached := false; !reached; {
		select {
		case err := <-exited:
			t.Fatalf("the engine ended before the gate: %v\n%s", err, out.String())
		case <-tick.C:
			_, err := os.Stat(gate + ".reached")
			reached = err == nil
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-exited; err == nil || !strings.Contains(out.String(), "interrupted") {
		t.Errorf("the engine ended with error %v, want an interrupted creation\n%s", err, out.String())
	}
	calls := w.takeCalls(t)
	if testprovider.CountCalls(calls, "StopProvider") == 0 {
		t.Error("no call of StopProvider is recorded")
	}

	// With the gate open, the same configuration applies.
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, append(slices.Clone(apply), "-var=gate="+gate)...)
	w.object(t, "a")
}

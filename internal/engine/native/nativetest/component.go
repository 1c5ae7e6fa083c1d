// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nativetest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Component is a component to be planned.
type Component struct {
	Dir   string
	Tree  *module.Node
	Prior engine.State
	Fake  *Provider // at the default slot of its provider, and at any alias

	// UnknownProvider makes the configuration of the fake provider one that is not known yet.
	UnknownProvider bool
}

// New returns the component whose files are in a txtar archive. Its file prior has the objects of
// the prior state as [Objects] reads them. Modules must be free of mistakes that the loader finds.
func New(t testing.TB, archive string) *Component {
	t.Helper()
	c := &Component{Dir: t.TempDir(), Fake: NewProvider()}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		if file.Name == "prior" {
			c.Prior = State(t, Objects(t, string(file.Data)))
			continue
		}
		path := filepath.Join(c.Dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: c.Dir}).LoadStrict(c.Dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c.Tree = tree.Root
	return c
}

// Objects reads the objects of a state, one a line: an address, then any of the words tainted, cbd,
// sensitive=ATTRIBUTE, deposed=KEY and depends=ADDRESS, and then the attributes as JSON.
func Objects(t testing.TB, text string) []tfstate.Object {
	t.Helper()
	var objects []tfstate.Object
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			objects = append(objects, readObject(t, line))
		}
	}
	return objects
}

func readObject(t testing.TB, line string) tfstate.Object {
	t.Helper()
	head, attributes, _ := strings.Cut(line, " {")
	words := strings.Fields(head)
	addr, err := stackaddrs.ParseResourceInstance(words[0])
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	object := tfstate.Object{
		Addr: addr, Provider: tfstate.ProviderConfig{Provider: Address.String()}.String(), Attributes: json.RawMessage("{" + attributes),
	}
	if strings.HasPrefix(addr.Resource.Type, "terraform_") {
		object.Provider = tfstate.ProviderConfig{Provider: builtin.Address.String()}.String()
	}
	var sensitive []cty.Path
	for _, word := range words[1:] {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "tainted":
			object.Tainted = true
		case "cbd":
			object.CreateBeforeDestroy = true
		case "sensitive":
			sensitive = append(sensitive, cty.GetAttrPath(value))
		case "deposed":
			object.Deposed = stackaddrs.DeposedKey(value)
		case "depends":
			object.Dependencies = append(object.Dependencies, value)
		default:
			t.Fatalf("%s: unknown word %s", line, word)
		}
	}
	if object.SensitiveAttributes, err = tfstate.EncodePaths(sensitive); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return object
}

// State returns a state with objects.
func State(t testing.TB, objects []tfstate.Object) engine.State {
	t.Helper()
	entries := make([]tfstate.Entry, 0, len(objects))
	for _, object := range objects {
		entry, err := object.Entry()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	doc, err := new(tfstate.Document).WithEntries(entries)
	if err != nil {
		t.Fatal(err)
	}
	return doc.WithIdentity("test", 1).Bytes()
}

// Provider implements [resource.Providers].
func (c *Component) Provider(_ context.Context, addr stackaddrs.Provider,
	_ engine.ProviderSlot,
) (provider.Provider, bool, bool, hcl.Diagnostics) {
	if addr.IsBuiltin() {
		return builtinProvider, true, true, nil
	}
	return c.Fake, !c.UnknownProvider, true, nil
}

var builtinProvider = builtin.New(builtin.Options{})

// Slot implements [resource.Providers].
func (c *Component) Slot(config tfstate.ProviderConfig) (engine.ProviderSlot, bool) {
	if config.IsOf(builtin.Address) {
		return engine.ProviderSlot{LocalName: "terraform"}, true
	}
	return engine.ProviderSlot{LocalName: "fake", Alias: config.Alias}, config.IsOf(Address)
}

var _ resource.Providers = (*Component)(nil)

// Functions returns the functions of a phase, for [planning.Request] and its like.
func Functions(phase lang.Options) func(*module.Node) *hcl.EvalContext {
	functions := &hcl.EvalContext{Functions: lang.NewTables(phase).In("")}
	return func(*module.Node) *hcl.EvalContext { return functions }
}

var timestamp = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// Request returns the request for planning the component. Tests may change it.
func (c *Component) Request() *planning.Request {
	return &planning.Request{
		PlanRequest: &engine.PlanRequest{PriorState: c.Prior, Timestamp: timestamp, Inputs: map[string]cty.Value{}},
		Tree:        c.Tree, Graph: deps.New(c.Tree), Providers: c, Types: &resource.Types{},
		Functions: Functions(lang.Options{PlanTimestamp: timestamp, PureOnly: true}),
		RootPath:  ".", WorkPath: c.Dir, Calls: make(chan struct{}, 10),
	}
}

// Plan is the plan of a component.
type Plan struct {
	*engine.PlanResult
	Mode    engine.Mode
	Planned *planned.Plan
	Diags   hcl.Diagnostics
}

// Plan plans the component. The function, which may be nil, changes the request.
func (c *Component) Plan(t testing.TB, change func(*planning.Request)) *Plan {
	t.Helper()
	req := c.Request()
	if change != nil {
		change(req)
	}
	if diags := planning.Unsupported(c.Tree); diags.HasErrors() {
		t.Fatal(diags)
	}
	result, plan, diags := planning.Plan(t.Context(), req)
	return &Plan{result, req.Mode, plan, diags}
}

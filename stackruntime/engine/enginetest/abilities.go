// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Provider is the provider that engines must have that call functions or install providers: in
// version 1.0.0 only, with a function "echo" which returns its argument, of any type.
var Provider = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}

// prepared installs the provider, where that has to be done.
func (b *bench) prepared() {
	b.Helper()
	preparer := b.session().Abilities().Preparer
	if preparer == nil {
		return
	}
	_, diags := preparer.Prepare(b.Context(), &engine.PrepareRequest{Requirements: map[stackaddrs.Provider][]string{Provider: {"1.0.0"}}})
	b.noErrors("Prepare", diags)
}

func functions(b *bench) {
	b.prepared()
	caller := b.session().Abilities().Functions
	if caller == nil {
		b.Skip("the engine calls no functions")
	}
	found, err := caller.Functions(b.Context(), Provider)
	if err != nil {
		b.Fatal(err)
	}
	echo := found["echo"]
	if echo == nil || len(echo.Parameters) != 1 || echo.Parameters[0].Type != cty.DynamicPseudoType || echo.Variadic != nil {
		b.Fatalf("functions: got %v with %+v, want echo with one parameter of any type", slices.Sorted(maps.Keys(found)), echo)
	}
	want := cty.ObjectVal(values{"n": cty.NumberIntVal(7), "l": strings("a", "b")})
	got, err := caller.CallFunction(b.Context(), Provider, "echo", []cty.Value{want})
	if err != nil || !got.RawEquals(want) {
		b.Errorf("echo: got %#v and %v, want %#v", got, err, want)
	}
	if got, err := caller.CallFunction(b.Context(), Provider, "missing", nil); err == nil {
		b.Errorf("a function that is not there: got %#v, want an error", got)
	}
	missing := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "missing"}
	if found, err := caller.Functions(b.Context(), missing); err == nil {
		b.Errorf("functions of a provider that is not there: got %v, want an error", found)
	}
}

func prepare(b *bench) {
	b.module("m", SimpleModule)
	preparer := b.session().Abilities().Preparer
	if preparer == nil {
		b.Skip("the engine prepares nothing")
	}
	place := hcl.Range{
		Filename: "main.tfcomponent.hcl", Start: hcl.Pos{Line: 2, Column: 3, Byte: 25},
		End: hcl.Pos{Line: 2, Column: 7, Byte: 29},
	}
	request := func(version string) *engine.PrepareRequest {
		return &engine.PrepareRequest{
			Modules:      []string{b.dir("m")},
			Requirements: map[stackaddrs.Provider][]string{Provider: {version}},
			Ranges:       map[stackaddrs.Provider]hcl.Range{Provider: place},
		}
	}
	b.noErrors("Unsupported", preparer.Unsupported(b.Context(), []string{b.dir("m")}))
	_, diags := preparer.Prepare(b.Context(), request("9.9.9"))
	b.wantErrors("Prepare of a version that is not there", diags)
	if at := diags[0].Subject; at == nil || *at != place {
		b.Errorf("Prepare of a version that is not there: got an error at %v, want it at %v", at, place)
	}

	result, diags := preparer.Prepare(b.Context(), request("~> 1.0"))
	b.noErrors("Prepare", diags)
	if want := []engine.LockChange{{Provider: Provider, After: "1.0.0"}}; !slices.Equal(result.Locked, want) {
		b.Errorf("Prepare: got changes %v, want %v", result.Locked, want)
	}
	locks, err := preparer.Locks(b.Context())
	if err != nil || !maps.Equal(locks, map[stackaddrs.Provider]string{Provider: "1.0.0"}) {
		b.Errorf("Locks: got %v and %v", locks, err)
	}
	again := request("~> 1.0")
	again.ReadOnlyLock = true
	result, diags = preparer.Prepare(b.Context(), again)
	b.noErrors("Prepare once more", diags)
	if len(result.Locked) > 0 {
		b.Errorf("Prepare once more: got changes %v, want none", result.Locked)
	}
}

// recovery picks up an apply whose session has ended before anybody had its result, by the name
// that it was given before.
func recovery(b *bench) {
	b.module("m", SimpleModule)
	if b.session().Abilities().Recoverer == nil {
		b.Skip("the engine recovers nothing")
	}
	secret := []byte("secret")
	req := b.request("m", simpleInputs("x"))
	apply := applyRequest(req, b.plan(req), req.Inputs)
	result := b.cutOff(apply, engine.Purpose{Secret: secret, Plan: "plan", Serial: 7})

	// By the secret alone an engine knows its own records from those that came with a checkout.
	recoverer := b.reopened(engine.Purpose{Secret: []byte("another")})
	found := b.unfinished(recoverer)
	if len(found) != 1 || !found[0].Foreign {
		b.Fatalf("with another secret: got %+v, want foreign work", found)
	}
	if _, err := recoverer.Resume(b.Context(), apply.Work, 0, nil); !errors.Is(err, engine.ErrUnknownWork) {
		b.Errorf("Resume of foreign work: got %v, want %v", err, engine.ErrUnknownWork)
	}

	recoverer = b.reopened(engine.Purpose{Secret: secret, Serial: 8})
	b.wantKept(secret, apply.Component.String())
	found = b.unfinished(recoverer)
	if len(found) != 1 || found[0].Foreign || found[0].Work != apply.Work || found[0].Component != apply.Component.String() ||
		found[0].Mode != engine.Normal {
		b.Fatalf("got %+v, want the apply %s", found, apply.Work)
	}
	if more := b.unfinished(recoverer); len(more) > 0 {
		b.Errorf("Unfinished once more: got %+v, want nothing", more)
	}
	if err := recoverer.Leave(b.Context(), apply.Work); err != nil {
		b.Fatal(err)
	}

	recoverer = b.reopened(engine.Purpose{Secret: secret, Serial: 8})
	b.unfinished(recoverer)
	var events []engine.Event
	recovered, err := recoverer.Resume(b.Context(), apply.Work, 0, func(event engine.Event) { events = append(events, event) })
	if err != nil {
		b.Fatal(err)
	}
	if recovered.Work != apply.Work || recovered.Plan != "plan" || recovered.Serial != 7 || recovered.Saved || len(recovered.Doubts) > 0 {
		b.Errorf("Resume: got %+v", recovered)
	}
	b.noErrors("Resume", recovered.Diagnostics)
	b.wantSameObjects(recovered.State, result.State)
	b.wantEventsAfter(recoverer, apply.Work, events)

	if err := b.session().Acknowledge(b.Context(), apply.Work); err != nil {
		b.Fatal(err)
	}
	b.wantKept(secret)
	for name, call := range map[string]error{
		"MarkSeen": recoverer.MarkSeen(b.Context(), apply.Work),
		"Forget":   recoverer.Forget(b.Context(), apply.Work),
	} {
		if call != nil {
			b.Errorf("%s: %v", name, call)
		}
	}
	if err := recoverer.Forget(b.Context(), apply.Work); !errors.Is(err, engine.ErrUnknownWork) {
		b.Errorf("Forget once more: got %v, want %v", err, engine.ErrUnknownWork)
	}
	if left := b.unfinished(b.reopened(engine.Purpose{Secret: secret})); len(left) > 0 {
		b.Errorf("forgotten work: got %+v, want nothing", left)
	}
}

// delegate applies in another session than the one that keeps the record, which is recovered from
// there.
func delegate(b *bench) {
	b.module("m", SimpleModule)
	if b.session().Abilities().Delegator == nil {
		b.Skip("the engine delegates nothing")
	}
	req := b.request("m", simpleInputs("x"))
	apply := applyRequest(req, b.plan(req), req.Inputs)
	apply.Work = b.work()
	reports, result := b.delegated(apply)

	recoverer := b.reopened(engine.Purpose{Secret: []byte("secret"), Serial: 8})
	if found := b.unfinished(recoverer); len(found) != 1 || found[0].Work != apply.Work {
		b.Fatalf("got %+v, want the apply %s", found, apply.Work)
	}
	keeper := b.session().Abilities().Delegator
	if about := keeper.Delegated(apply.Work); string(about) != "there" {
		b.Errorf("Delegated: got %q", about)
	}
	for _, content := range append(reports, reports...) {
		if err := keeper.Reported(b.Context(), apply.Work, content); err != nil {
			b.Fatal(err)
		}
	}
	if about := keeper.Delegated(apply.Work); about != nil {
		b.Errorf("Delegated, when the work has ended: got %q", about)
	}
	recovered, err := recoverer.Resume(b.Context(), apply.Work, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	if recovered.Plan != "plan" || recovered.Serial != 7 || recovered.Saved || recovered.IsDoubtful() {
		b.Errorf("Resume: got %+v", recovered)
	}
	b.wantSameObjects(recovered.State, result.State)
}

// delegated applies in the session, for one that keeps the record and ends before it has any
// report.
func (b *bench) delegated(apply *engine.ApplyRequest) (reports [][]byte, _ *engine.ApplyResult) {
	b.Helper()
	keeper, err := b.newEngine(b.T, b.stack).Open(b.Context(), engine.SessionOptions{StackDir: b.stack})
	if err != nil {
		b.Fatal(err)
	}
	keeper.Abilities().Recoverer.Bind(engine.Purpose{Secret: []byte("secret"), Plan: "plan", Serial: 7})
	if err := keeper.Abilities().Delegator.Delegate(b.Context(), apply, []byte("there")); err != nil {
		b.Fatal(err)
	}
	if err := keeper.Close(); err != nil {
		b.Fatal(err)
	}
	b.session().Abilities().Delegator.Report(apply.Work, func(content []byte) error {
		reports = append(reports, bytes.Clone(content))
		return nil
	})
	result, diags := b.session().Apply(b.Context(), apply, nil)
	b.noErrors("Apply", diags)
	return append(reports, b.session().Abilities().Delegator.EndReport(apply.Work)), result
}

// cutOff applies in a session that ends before the result is acknowledged.
func (b *bench) cutOff(apply *engine.ApplyRequest, purpose engine.Purpose) *engine.ApplyResult {
	b.Helper()
	session, err := b.newEngine(b.T, b.stack).Open(b.Context(), engine.SessionOptions{StackDir: b.stack})
	if err != nil {
		b.Fatal(err)
	}
	session.Abilities().Recoverer.Bind(purpose)
	apply.Work = b.work()
	result, diags := session.Apply(b.Context(), apply, nil)
	b.noErrors("Apply", diags)
	if err := session.Close(); err != nil {
		b.Fatal(err)
	}
	return result
}

// reopened returns the ability of another session.
func (b *bench) reopened(purpose engine.Purpose) engine.Recoverer {
	b.Helper()
	b.reopen()
	recoverer := b.session().Abilities().Recoverer
	recoverer.Bind(purpose)
	return recoverer
}

func (b *bench) unfinished(recoverer engine.Recoverer) []engine.UnfinishedWork {
	b.Helper()
	found, err := recoverer.Unfinished(b.Context())
	if err != nil {
		b.Fatalf("Unfinished: %v", err)
	}
	return found
}

// wantKept compares the results that are not safe yet, where the session can list them.
func (b *bench) wantKept(secret []byte, want ...string) {
	b.Helper()
	keeper := b.session().Abilities().Keeper
	if keeper == nil {
		return
	}
	if kept, err := keeper.Kept(b.Context(), secret); err != nil || !slices.Equal(kept, want) {
		b.Errorf("Kept: got %q and %v, want %q", kept, err, want)
	}
}

func (b *bench) wantSameObjects(got, want engine.State) {
	b.Helper()
	entries := func(state engine.State) []string {
		doc, err := tfstate.Parse(state)
		if err != nil {
			b.Fatal(err)
		}
		var texts []string
		for _, entry := range doc.Entries() {
			texts = append(texts, entry.Addr.String()+" "+string(entry.AppendJSON(nil)))
		}
		slices.Sort(texts)
		return texts
	}
	if got, want := entries(got), entries(want); !slices.Equal(got, want) {
		b.Errorf("recovered objects: got %q, want %q", got, want)
	}
}

// wantEventsAfter reads the events again from after the first one.
func (b *bench) wantEventsAfter(recoverer engine.Recoverer, work engine.WorkID, events []engine.Event) {
	b.Helper()
	if len(events) < 2 {
		b.Fatalf("got the events %v, want those of two resources", events)
	}
	var rest []engine.Position
	_, err := recoverer.Resume(b.Context(), work, events[0].Position, func(event engine.Event) { rest = append(rest, event.Position) })
	if err != nil {
		b.Fatal(err)
	}
	var want []engine.Position
	for _, event := range events[1:] {
		want = append(want, event.Position)
	}
	if !slices.Equal(rest, want) {
		b.Errorf("events after %d: got positions %v, want %v", events[0].Position, rest, want)
	}
}

func types(b *bench) {
	b.prepared()
	describer := b.session().Abilities().Types
	if describer == nil {
		b.Skip("the engine does not know the types of resources")
	}
	builtin := stackaddrs.BuiltinProvider
	ty, err := describer.ResourceType(b.Context(), builtin, stackaddrs.ManagedResource, "terraform_data")
	if err != nil || !ty.IsObjectType() || !ty.HasAttribute("input") || ty.AttributeType("input") != cty.DynamicPseudoType {
		b.Errorf("terraform_data: got %#v and %v, want an object with an input of any type", ty, err)
	}
	if ty, err := describer.ResourceType(b.Context(), Provider, stackaddrs.ManagedResource, "missing"); err != nil || ty != cty.NilType {
		b.Errorf("a type that is not there: got %#v and %v, want none", ty, err)
	}
}

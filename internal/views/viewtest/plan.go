// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package viewtest

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Instance parses the address of a component instance.
func Instance(t testing.TB, s string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// PartialInstance parses the address of a component instance in which "[*]" stands
// for keys not known yet.
func PartialInstance(t *testing.T, s string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParsePartialComponentInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Secrets are the texts in [Plan] and [State] that are sensitive.
func Secrets() []string {
	return []string{
		"tok-1", "old-secret", "new-secret", "map-secret", "input-secret", "output-secret", "keeper-secret",
		"plain-secret", "other-secret", "gone-secret", "drift-secret", "then-hidden", "deferred-secret",
		"attribute-secret", "element-secret", "state-output-secret", "root-secret",
	}
}

func sensitive(s string) cty.Value { return cty.StringVal(s).Mark(marks.Sensitive) }

// Plan returns a plan in which everything that can be shown occurs.
func Plan(t *testing.T) *stackplan.Plan {
	t.Helper()
	return &stackplan.Plan{
		Mode: engine.Normal, Applyable: true,
		Engine: engine.Info{Name: "terraform", Version: "1.11.4"},
		Inputs: map[string]*stackplan.InputChange{
			"region": {Action: stackplan.Create, Before: cty.NullVal(cty.String), After: cty.StringVal("eu")},
			"token":  {Action: stackplan.NoOp, Before: sensitive("tok-1"), After: sensitive("tok-1")},
		},
		Outputs: map[string]*stackplan.OutputChange{
			"endpoint": {Action: stackplan.Create, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.UnknownVal(cty.String)},
			"password": {Action: stackplan.Update, Before: sensitive("old-secret"), After: sensitive("new-secret")},
			"gone": {
				Action: stackplan.Delete, Before: cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.True}),
				After: cty.NullVal(cty.DynamicPseudoType),
			},
			"stays": {Action: stackplan.NoOp, Before: cty.Zero, After: cty.Zero},
			"map": {
				Action: stackplan.Update,
				Before: cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1"), "b c": cty.StringVal("2"), "s": sensitive("map-secret")}),
				After:  cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1"), "b c": cty.StringVal("3"), "s": sensitive("map-secret")}),
			},
		},
		Components: []*stackplan.Component{
			Created(t), Updated(t), Deferred(t), Unchanged(t), Destroyed(t),
		},
		Removed: []stackaddrs.AbsComponentInstance{Instance(t, "component.vanished")},
	}
}

// Created returns a component that is created.
func Created(t *testing.T) *stackplan.Component {
	t.Helper()
	return &stackplan.Component{
		Addr: Instance(t, `component.app["a"]`), Source: "./modules/app", Action: stackplan.Create, Applyable: true, Complete: true,
		Inputs:  map[string]cty.Value{"name": cty.StringVal("a"), "id": cty.UnknownVal(cty.String), "pw": sensitive("input-secret")},
		Outputs: map[string]cty.Value{"url": cty.UnknownVal(cty.String), "pw": sensitive("output-secret")},
		Requires: []stackaddrs.AbsComponent{
			stackaddrs.ComponentOf(Instance(t, "component.net")), stackaddrs.ComponentOf(Instance(t, "stack.inner.component.db")),
		},
		Changes: []*engine.Change{
			change(t, `{"address":"random_pet.x","mode":"managed","type":"random_pet","name":"x","provider_name":"registry.terraform.io/hashicorp/random",
				"change":{"actions":["create"],"before":null,
				"after":{"length":2,"prefix":null,"separator":"-","keepers":{"zone":"a","some key":null,"pw":"keeper-secret"},"list":[1,2.5,"x",[],{}],
					"script":"#!/bin/sh\necho hello\n","policy":"{\"Statement\":[{\"Effect\":\"Allow\",\"n\":null}]}","escape":"a\u001b[31m\nb","blocks":[{"set":1,"unset":null}]},
				"after_unknown":{"id":true,"keepers":{"late":true},"list":[false,false,false,[],{}]},
				"after_sensitive":{"keepers":{"pw":true}},"before_sensitive":false}}`),
			change(t, `{"address":"data.http.y","mode":"data","type":"http","name":"y","action_reason":"read_because_config_unknown",
				"change":{"actions":["read"],"before":null,"after":{"method":"GET"},"after_unknown":{"body":true,"url":true}}}`),
			change(t, `{"address":"module.m.thing.i[0]","module_address":"module.m","mode":"managed","type":"thing","name":"i","index":0,
				"change":{"actions":["no-op"],"before":{"id":"i-1","size":3},"after":{"id":"i-1","size":3},"importing":{"id":"i-1"}}}`),
		},
	}
}

// Updated returns a component with a change of every kind.
func Updated(t *testing.T) *stackplan.Component {
	t.Helper()
	return &stackplan.Component{
		Addr: Instance(t, `component.app["b"]`), Source: "./modules/app", Action: stackplan.Update, Applyable: true, Complete: true,
		Changes: []*engine.Change{
			change(t, `{"address":"thing.update","mode":"managed","type":"thing","name":"update",
				"change":{"actions":["update"],
				"before":{"id":"t-1","name":"n","tags":{"a":"1","gone":"x"},"same":[1,2,3],"list":["a","b","c","d","e","f","g"],"text":"l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n","json":"{\"a\":[1,2],\"b\":1}","space":"{\"a\":1}","secret":"plain-secret","kind":"x","was":"set","opens":"then-hidden"},
				"after":{"id":"t-1","name":"n","tags":{"a":"2","new":"y"},"same":[1,2,3],"list":["a","b","c","d","X","f","g","h"],"text":"l1\nl2\nl3\nl4\nl5\nL6\nl7\nl8\nl9\n","json":"{\"a\":[1,3],\"b\":1}","space":"{ \"a\" : 1 }","secret":"other-secret","kind":["x"],"was":null,"opens":"then-hidden"},
				"after_unknown":{"etag":true},"before_sensitive":{"secret":true},"after_sensitive":{"secret":true,"opens":true}}}`),
			change(t, `{"address":"thing.replace","mode":"managed","type":"thing","name":"replace","action_reason":"replace_because_cannot_update",
				"change":{"actions":["delete","create"],"before":{"id":"t-2","zone":"a","nested":{"k":"v","l":"w"},"list":[1]},"after":{"zone":"b","nested":{"k":"V","l":"w"},"list":[2]},
				"after_unknown":{"id":true},"replace_paths":[["zone"],["nested","k"],["list"]]}}`),
			change(t, `{"address":"thing.tainted","mode":"managed","type":"thing","name":"tainted","action_reason":"replace_because_tainted",
				"change":{"actions":["create","delete"],"before":{"id":"t-3"},"after":{},"after_unknown":{"id":true}}}`),
			change(t, `{"address":"thing.requested","mode":"managed","type":"thing","name":"requested","action_reason":"replace_by_request",
				"change":{"actions":["delete","create"],"before":{"id":"t-4"},"after":{},"after_unknown":{"id":true}}}`),
			change(t, `{"address":"thing.gone[1]","mode":"managed","type":"thing","name":"gone","index":1,"action_reason":"delete_because_count_index","previous_address":"thing.before[1]",
				"change":{"actions":["delete"],"before":{"id":"t-5","none":null,"o":{"k":["v"]},"m":"a\nb","pw":"gone-secret"},"after":null,"before_sensitive":{"pw":true}}}`),
			change(t, `{"address":"thing.old","mode":"managed","type":"thing","name":"old","deposed":"deadbeef",
				"change":{"actions":["delete"],"before":{"id":"t-6"},"after":null}}`),
			change(t, `{"address":"thing.moved","mode":"managed","type":"thing","name":"moved","previous_address":"thing.here",
				"change":{"actions":["no-op"],"before":{"id":"t-7","a":1},"after":{"id":"t-7","a":1}}}`),
			change(t, `{"address":"thing.forget","mode":"managed","type":"thing","name":"forget","action_reason":"delete_because_no_resource_config",
				"change":{"actions":["forget"],"before":{"id":"t-8","a":1},"after":null}}`),
			change(t, `{"address":"thing.imported","mode":"managed","type":"thing","name":"imported",
				"change":{"actions":["update"],"before":{"id":"t-9","a":1},"after":{"id":"t-9","a":2},"importing":{"id":"t-9"}}}`),
			change(t, `{"address":"thing.same","mode":"managed","type":"thing","name":"same",
				"change":{"actions":["no-op"],"before":{"id":"t-10"},"after":{"id":"t-10"}}}`),
		},
		Drift: []*engine.Change{
			change(t, `{"address":"thing.update","mode":"managed","type":"thing","name":"update",
				"change":{"actions":["update"],"before":{"id":"t-1","kind":"y"},"after":{"id":"t-1","kind":"x"}}}`),
			change(t, `{"address":"thing.lost","mode":"managed","type":"thing","name":"lost",
				"change":{"actions":["delete"],"before":{"id":"t-0","pw":"drift-secret"},"after":null,"before_sensitive":{"pw":true}}}`),
		},
	}
}

// Deferred returns a component that is deferred.
func Deferred(t *testing.T) *stackplan.Component {
	t.Helper()
	return &stackplan.Component{
		Addr: Instance(t, `component.late`), Source: "./modules/late", Action: stackplan.Create, DeferredReason: "deferred_prereq",
		Deferred: []engine.DeferredChange{{Reason: "instance_count_unknown", Change: change(t,
			`{"address":"thing.many[\"*\"]","mode":"managed","type":"thing","name":"many",
				"change":{"actions":["create"],"before":null,"after":{"size":1,"pw":["deferred-secret"]},"after_unknown":{"id":true},"after_sensitive":{"pw":[true]}}}`)}},
	}
}

// Unchanged returns a component that stays as it is.
func Unchanged(t *testing.T) *stackplan.Component {
	t.Helper()
	return &stackplan.Component{
		Addr: Instance(t, "component.net"), Source: "./modules/net", Action: stackplan.NoOp, Applyable: false, Complete: true,
		Outputs: map[string]cty.Value{"id": cty.StringVal("net-1")},
		Changes: []*engine.Change{change(t,
			`{"address":"thing.net","mode":"managed","type":"thing","name":"net","change":{"actions":["no-op"],"before":{"id":"n"},"after":{"id":"n"}}}`)},
	}
}

// Destroyed returns a component that is destroyed.
func Destroyed(t *testing.T) *stackplan.Component {
	t.Helper()
	return &stackplan.Component{
		Addr: Instance(t, "stack.inner.component.db"), Source: "./db", Action: stackplan.Delete, Applyable: true, Complete: true,
		Mode: engine.Destroy,
		Changes: []*engine.Change{change(t,
			`{"address":"thing.db","mode":"managed","type":"thing","name":"db","action_reason":"delete_because_no_resource_config","change":{"actions":["delete"],"before":{"id":"d"},"after":null}}`)},
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// value reads a value in JSON, "" is null. Where unknown, JSON too, has true, the value is unknown.
func value(t *testing.T, text, unknown string) cty.Value {
	t.Helper()
	if text == "" {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	ty, err := ctyjson.ImpliedType([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := ctyjson.Unmarshal([]byte(text), ty)
	if err != nil {
		t.Fatal(err)
	}
	if unknown == "" {
		return v
	}
	attrs, where := v.AsValueMap(), map[string]any{}
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	if err := json.Unmarshal([]byte(unknown), &where); err != nil {
		t.Fatal(err)
	}
	for name, part := range where {
		if list, ok := part.([]any); ok {
			elements := attrs[name].AsValueSlice()
			for i := range list {
				if list[i] == true {
					elements[i] = cty.DynamicVal
				}
			}
			attrs[name] = cty.TupleVal(elements)
			continue
		}
		attrs[name] = cty.DynamicVal
	}
	return cty.ObjectVal(attrs)
}

func resource(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	addr, err := stackaddrs.ParseResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestCheckRest(t *testing.T) {
	const (
		create, update, remove = engine.ActionCreate, engine.ActionUpdate, engine.ActionDelete
		noop, forget           = engine.ActionNoOp, engine.ActionForget
	)
	change := func(before, after, unknown string, action engine.Action) *engine.Change { // of x.a
		return &engine.Change{Addr: resource(t, "x.a"), Action: action, Before: value(t, before, ""), After: value(t, after, unknown)}
	}
	deposed := func(c *engine.Change) *engine.Change {
		c.Deposed = "0badcafe"
		return c
	}
	moved := func(from string, c *engine.Change) *engine.Change {
		other := *c
		other.PreviousAddr = resource(t, from)
		return &other
	}
	imported := func(id string, c *engine.Change) *engine.Change {
		other := *c
		other.Importing = &engine.Importing{ID: id}
		return &other
	}
	created := change("", `{"v": "1"}`, `{"id": true}`, create)
	updated := change(`{"v": "1", "id": "i"}`, `{"v": "2", "id": "i"}`, "", update)
	replaced := change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionDeleteThenCreate)
	replacedLater := change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionCreateThenDelete)
	destroyed := change(`{"v": "1", "id": "i"}`, "", "", remove)
	kept := change(`{"v": "1", "id": "i"}`, `{"v": "1", "id": "i"}`, "", noop)
	fresh := change(`{"v": "2", "id": "j"}`, `{"v": "2", "id": "j"}`, "", noop)

	created2 := change("", `{"v": "2"}`, `{"id": true}`, create)

	for name, test := range map[string]struct {
		planned, rest *engine.Change // nil for none
		want          string         // of the error
	}{
		"nothing was done yet": {created, created, ""},
		"known by now":         {change("", `{"v": "1"}`, `{"w": true}`, create), change("", `{"v": "1", "w": [2]}`, "", create), ""},
		"known in part": {
			change("", `{"v": [null, "b"]}`, `{"v": [true, false]}`, create),
			change("", `{"v": ["a", "b"]}`, "", create),
			"",
		},
		"created":                      {created, kept, ""},
		"updated":                      {updated, fresh, ""},
		"destroyed":                    {destroyed, nil, ""},
		"forgotten":                    {change(`{}`, "", "", forget), nil, ""},
		"replaced":                     {replaced, fresh, ""},
		"destroyed of what's replaced": {replaced, change("", `{"v": "2"}`, `{"id": true}`, create), ""},
		"created of what's replaced":   {replacedLater, deposed(change(`{"v": "1", "id": "i"}`, "", "", remove)), ""},
		"moved":                        {moved("x.b", updated), updated, ""},
		"still to be moved":            {moved("x.b", kept), moved("x.b", kept), ""},
		"imported":                     {imported("i", updated), updated, ""},
		"still to be imported":         {imported("i", updated), imported("i", updated), ""},
		"nothing planned":              {kept, kept, ""},

		"not planned":         {nil, created, "x.a would now be created, and by the plan it is left as it is"},
		"left as it is":       {kept, updated, "x.a would now be updated in place, and by the plan it is left as it is"},
		"created and damaged": {created, replaced, "x.a would now be replaced, and by the plan it is created"},
		"another value":       {created, change("", `{"v": "9"}`, `{"id": true}`, create), "x.a would not become as planned"},
		"another element": {
			change("", `{"v": [null, "b"]}`, `{"v": [true, false]}`, create),
			change("", `{"v": ["a", "c"]}`, "", create),
			"x.a would not become as planned",
		},
		"one element more": {
			change("", `{"v": ["a"]}`, "", create),
			change("", `{"v": ["a", "b"]}`, "", create),
			"x.a would not become as planned",
		},
		"not known any more": {
			updated,
			change(`{"v": "1", "id": "i"}`, `{"id": "i"}`, `{"v": true}`, update),
			"x.a would not become as planned",
		},
		"replaced twice": {
			replaced,
			change(`{"v": "2", "id": "j"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionDeleteThenCreate),
			"x.a is not the object any more that the plan removes",
		},
		"another one destroyed": {
			destroyed,
			change(`{"v": "1", "id": "j"}`, "", "", remove),
			"x.a is not the object any more that the plan removes",
		},
		"replaced or not":              {replaced, kept, "x.a is replaced by the plan, and whether it was cannot be known"},
		"stays":                        {destroyed, kept, "x.a would now stay, and by the plan it is destroyed"},
		"destroyed after its creation": {created, destroyed, "x.a would now be destroyed, and by the plan it is created"},
		"gone":                         {updated, nil, "x.a would now be gone, and by the plan it is updated in place"},
		"a new one put aside": {
			replacedLater,
			deposed(change(`{"v": "2", "id": "j"}`, "", "", remove)),
			"the former object of x.a is not the object any more that the plan removes",
		},
		"moved from elsewhere": {
			moved("x.b", kept),
			moved("x.c", kept),
			"x.a would now be moved from x.c, and by the plan it is moved from x.b",
		},
		"forgotten and created": {change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionForgetThenCreate), fresh, ""},
		"forgotten, not yet created": {
			change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionForgetThenCreate),
			created2,
			"",
		},
		"forgotten or not": {
			change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, engine.ActionForgetThenCreate),
			kept,
			"x.a is replaced by the plan, and whether it was cannot be known",
		},
		"another import": {
			imported("i", kept),
			imported("j", kept),
			"x.a would now be imported by the ID j, and by the plan it is imported by the ID i",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var planned, again []*engine.Change
			if test.planned != nil {
				planned = append(planned, test.planned)
			}
			if test.rest != nil {
				again = append(again, test.rest)
				if test.rest.Deposed != "" {
					again = append(again, fresh)
				}
			}
			got := ""
			if err := checkRest(planned, again); err != nil {
				got = fmt.Sprint(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReplacementsLeft(t *testing.T) {
	change := func(addr string, action engine.Action, before, after, unknown string) *engine.Change {
		return &engine.Change{Addr: resource(t, addr), Action: action, Before: value(t, before, ""), After: value(t, after, unknown)}
	}
	const old, other, unknown = `{"v": "1", "id": "i"}`, `{"v": "1", "id": "j"}`, `{"id": true}`
	for name, test := range map[string]struct {
		planned, rest *engine.Change
		want          bool
	}{
		"still there": {
			change("x.a", engine.ActionDeleteThenCreate, old, old, unknown),
			change("x.a", engine.ActionNoOp, old, old, ""),
			true,
		},
		"to be made first": {
			change("x.a", engine.ActionCreateThenDelete, old, old, unknown),
			change("x.a", engine.ActionNoOp, old, old, ""),
			true,
		},
		"to be forgotten": {
			change("x.a", engine.ActionForgetThenCreate, old, old, unknown),
			change("x.a", engine.ActionNoOp, old, old, ""),
			true,
		},
		"with another argument": {
			change("x.a", engine.ActionDeleteThenCreate, old, `{"v": "2", "id": "i"}`, unknown),
			change("x.a", engine.ActionUpdate, old, `{"v": "2", "id": "i"}`, ""),
			true,
		},
		"with a known result": {
			change("x.a", engine.ActionDeleteThenCreate, old, `{"v": "2", "id": "i"}`, ""),
			change("x.a", engine.ActionUpdate, old, `{"v": "2", "id": "i"}`, ""),
			true,
		},
		"instance": {
			change(`x.a["k"]`, engine.ActionDeleteThenCreate, old, old, unknown),
			change(`x.a["k"]`, engine.ActionNoOp, old, old, ""),
			true,
		},
		"replaced": {
			change("x.a", engine.ActionDeleteThenCreate, old, old, unknown),
			change("x.a", engine.ActionNoOp, other, other, ""),
			false,
		},
		"destroyed": {
			change("x.a", engine.ActionDeleteThenCreate, old, old, unknown),
			change("x.a", engine.ActionCreate, "", old, unknown),
			false,
		},
		"replaced by itself": {
			change("x.a", engine.ActionDeleteThenCreate, old, old, unknown),
			change("x.a", engine.ActionDeleteThenCreate, old, old, unknown),
			false,
		},
		"may be the new one": {change("x.a", engine.ActionDeleteThenCreate, old, old, ""), change("x.a", engine.ActionNoOp, old, old, ""), false},
		"not to be replaced": {change("x.a", engine.ActionUpdate, old, old, unknown), change("x.a", engine.ActionNoOp, old, old, ""), false},
		"another resource": {
			change("x.b", engine.ActionDeleteThenCreate, old, old, unknown),
			change("x.a", engine.ActionNoOp, old, old, ""),
			false,
		},
	} {
		got := replacementsLeft([]*engine.Change{test.planned}, []*engine.Change{test.rest})
		if (len(got) > 0) != test.want || test.want && got[0] != test.rest.Address() {
			t.Errorf("%s: %v, want %t", name, got, test.want)
		}
	}
}

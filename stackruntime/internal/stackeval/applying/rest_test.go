// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"encoding/json"
	"fmt"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
)

// changeOf is a change of x.a: values are JSON, "" is null.
func changeOf(t *testing.T, before, after, unknown string, actions ...tfjson.Action) *tfjson.ResourceChange {
	t.Helper()
	value := func(text string) (v any) {
		if text == "" {
			return nil
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	return &tfjson.ResourceChange{Address: "x.a", Mode: tfjson.ManagedResourceMode, Change: &tfjson.Change{
		Actions: actions, Before: value(before), After: value(after), AfterUnknown: value(unknown),
	}}
}

func TestCheckRest(t *testing.T) {
	const (
		create, update, remove = tfjson.ActionCreate, tfjson.ActionUpdate, tfjson.ActionDelete
		noop, forget           = tfjson.ActionNoop, tfjson.ActionForget
	)
	change := func(before, after, unknown string, actions ...tfjson.Action) *tfjson.ResourceChange {
		return changeOf(t, before, after, unknown, actions...)
	}
	deposed := func(rc *tfjson.ResourceChange) *tfjson.ResourceChange {
		rc.DeposedKey = "0badcafe"
		return rc
	}
	moved := func(from string, rc *tfjson.ResourceChange) *tfjson.ResourceChange {
		other := *rc
		other.PreviousAddress = from
		return &other
	}
	imported := func(id string, rc *tfjson.ResourceChange) *tfjson.ResourceChange {
		other, change := *rc, *rc.Change
		change.Importing = &tfjson.Importing{ID: id}
		other.Change = &change
		return &other
	}
	created := change("", `{"v": "1"}`, `{"id": true}`, create)
	updated := change(`{"v": "1", "id": "i"}`, `{"v": "2", "id": "i"}`, "", update)
	replaced := change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, remove, create)
	replacedLater := change(`{"v": "1", "id": "i"}`, `{"v": "2"}`, `{"id": true}`, create, remove)
	destroyed := change(`{"v": "1", "id": "i"}`, "", "", remove)
	kept := change(`{"v": "1", "id": "i"}`, `{"v": "1", "id": "i"}`, "", noop)
	fresh := change(`{"v": "2", "id": "j"}`, `{"v": "2", "id": "j"}`, "", noop)

	for name, test := range map[string]struct {
		planned, rest *tfjson.ResourceChange // nil for none
		want          string                 // of the error
	}{
		"nothing was done yet":         {created, created, ""},
		"known by now":                 {change("", `{"v": "1"}`, `{"w": true}`, create), change("", `{"v": "1", "w": [2]}`, "", create), ""},
		"known in part":                {change("", `{"v": [null, "b"]}`, `{"v": [true, false]}`, create), change("", `{"v": ["a", "b"]}`, "", create), ""},
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

		"not planned":                  {nil, created, "x.a would now be created, and by the plan it is left as it is"},
		"left as it is":                {kept, updated, "x.a would now be updated in place, and by the plan it is left as it is"},
		"created and damaged":          {created, replaced, "x.a would now be replaced, and by the plan it is created"},
		"another value":                {created, change("", `{"v": "9"}`, `{"id": true}`, create), "x.a would not become what the plan says"},
		"another element":              {change("", `{"v": [null, "b"]}`, `{"v": [true, false]}`, create), change("", `{"v": ["a", "c"]}`, "", create), "x.a would not become what the plan says"},
		"one element more":             {change("", `{"v": ["a"]}`, "", create), change("", `{"v": ["a", "b"]}`, "", create), "x.a would not become what the plan says"},
		"not known any more":           {updated, change(`{"v": "1", "id": "i"}`, `{"id": "i"}`, `{"v": true}`, update), "x.a would not become what the plan says"},
		"replaced twice":               {replaced, change(`{"v": "2", "id": "j"}`, `{"v": "2"}`, `{"id": true}`, remove, create), "x.a is not the object any more that the plan removes"},
		"another one destroyed":        {destroyed, change(`{"v": "1", "id": "j"}`, "", "", remove), "x.a is not the object any more that the plan removes"},
		"replaced or not":              {replaced, kept, "x.a is replaced by the plan, and whether it was cannot be known"},
		"stays":                        {destroyed, kept, "x.a would now stay, and by the plan it is destroyed"},
		"destroyed after its creation": {created, destroyed, "x.a would now be destroyed, and by the plan it is created"},
		"gone":                         {updated, nil, "x.a would now be gone, and by the plan it is updated in place"},
		"a new one put aside":          {replacedLater, deposed(change(`{"v": "2", "id": "j"}`, "", "", remove)), "the former object of x.a is not the object any more that the plan removes"},
		"moved from elsewhere":         {moved("x.b", kept), moved("x.c", kept), "x.a would now be moved from x.c, and by the plan it is moved from x.b"},
		"another import":               {imported("i", kept), imported("j", kept), "x.a would now be imported by the ID j, and by the plan it is imported by the ID i"},
	} {
		t.Run(name, func(t *testing.T) {
			var planned, again []*tfjson.ResourceChange
			if test.planned != nil {
				planned = append(planned, test.planned)
			}
			if test.rest != nil {
				again = append(again, test.rest)
				if test.rest.DeposedKey != "" {
					again = append(again, fresh)
				}
			}
			got := ""
			if err := applying.CheckRest(planned, again); err != nil {
				got = fmt.Sprint(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Every public field reaches the operation, and a field that an operation gains is public or named
// here.
func TestRequestIsConverted(t *testing.T) {
	argument := Argument{File: "f", Text: "a=b", Name: "n", Value: cty.True, Sensitive: true, Range: &hcl.Range{Filename: "f"}}
	request := Request{
		Mode: engine.Destroy, Variables: []Argument{argument}, SkipRefresh: true, Parallelism: 3,
		Replace:  map[stackaddrs.AbsComponentInstance][]string{{}: {"a.b"}},
		Targets:  []stackaddrs.AbsComponentInstance{{}},
		Excludes: []stackaddrs.AbsComponentInstance{{}},
		Generate: "new.tf",

		Requested: map[stackaddrs.AbsComponentInstance]engine.Requested{{}: {}},
		Rounds:    2, Beside: true, ApproveLater: true, ApprovedBy: "x", AcceptRecovery: true, Version: "1",
	}
	checkConverted(t, request, request.operation(), "Replans", "Together", "Given", "Upstream")
	checkConverted(t, argument, request.operation().Variables[0], "Option")
}

func checkConverted(t *testing.T, from, to any, without ...string) {
	t.Helper()
	public, converted := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range public.NumField() {
		name := public.Type().Field(i).Name
		if public.Field(i).IsZero() {
			t.Errorf("%T.%s has no value in this test", from, name)
		}
		if converted.FieldByName(name).IsZero() {
			t.Errorf("%T.%s is not converted", from, name)
		}
	}
	for _, field := range reflect.VisibleFields(converted.Type()) {
		if name := field.Name; !field.Anonymous && !public.FieldByName(name).IsValid() && !slices.Contains(without, name) {
			t.Errorf("%T.%s is not public", to, name)
		}
	}
}

func TestCallerIsConverted(t *testing.T) {
	fromType, toType := reflect.TypeFor[Caller](), reflect.TypeFor[operation.Caller]()
	if fromType.NumField() != toType.NumField() {
		t.Errorf("Caller has %d fields, that of operations %d", fromType.NumField(), toType.NumField())
	}
	if zero := (Caller{}).operation(); !reflect.ValueOf(zero).IsZero() {
		t.Errorf("the zero value has functions: %+v", zero)
	}

	refused, failed := errors.New("refused"), errors.New("nobody is here")
	caller := Caller{
		Judged: func(judgement Judgement) error {
			want := Judgement{Rules: []string{"small"}, Refusals: []Refusal{{Rule: "calm", Reason: "deletes"}}}
			if !reflect.DeepEqual(judgement, want) {
				t.Errorf("judgement %+v, want %+v", judgement, want)
			}
			return refused
		},
		Applied: func(applied Applied) error {
			if !applied.Unsaved {
				t.Error("Unsaved is not set")
			}
			return refused
		},
		Rescue: func(context.Context, error, []byte) (Rescue, error) { return Rescue{Dir: "d"}, failed },
	}.operation()
	judgement := approval.Judgement{Rules: []string{"small"}, Refusals: []deployeval.Refusal{{Rule: "calm", Reason: "deletes"}}}
	if err := caller.Judged(judgement); !errors.Is(err, refused) {
		t.Errorf("Judged: %v", err)
	}
	if err := caller.Applied(operation.Applied{Unsaved: true}); !errors.Is(err, refused) {
		t.Errorf("Applied: %v", err)
	}
	if rescue, err := caller.Rescue(t.Context(), nil, nil); rescue != (operation.Rescue{Dir: "d"}) || !errors.Is(err, failed) {
		t.Errorf("Rescue: %+v, %v", rescue, err)
	}
}

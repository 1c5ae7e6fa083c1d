// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package problem

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
)

// Line O-04: each cycle is a problem of its own, with its whole path, at the first place on it that
// is known.
func TestOfCycles(t *testing.T) {
	var b order.Builder
	for _, name := range []string{"b", "a", "self", "x", "y"} {
		b.Add(order.Node{Name: name})
	}
	at := func(line int) order.Place { return order.Place{File: "f.hcl", Line: line, Column: 3} }
	b.Edge(order.Edge{From: 0, To: 1, Reason: `before = ["a"]`, Place: at(1)}) // b before a
	b.Edge(order.Edge{From: 1, To: 0})
	b.Edge(order.Edge{From: 2, To: 2, Place: at(2)})
	b.Edge(order.Edge{From: 3, To: 4})
	b.Edge(order.Edge{From: 4, To: 3})
	_, err := b.Build()
	want := []string{
		"order/cycle at f.hcl:1,3-3: Cycle in the order",
		"These would have to wait for each other: a → b → a",
		`  b before a: before = ["a"] (f.hcl:1:3).`,
		"order/self at f.hcl:2,3-3: Self-dependency in the order",
		"self would have to wait for itself: self → self",
		"  self before self (f.hcl:2:3).",
		"order/cycle at nowhere: Cycle in the order",
		"These would have to wait for each other: x → y → x.",
	}
	var got []string
	for _, diag := range OfCycles(fmt.Errorf("wrapped: %w", err)) {
		where := "nowhere"
		if diag.Subject != nil {
			where = diag.Subject.String()
		}
		got = append(got, fmt.Sprintf("%s at %s: %s", CodeOf(diag), where, diag.Summary))
		got = append(got, strings.Split(diag.Detail, "\n")...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diags := OfCycles(errors.New("no cycle")); len(diags) != 0 {
		t.Errorf("of another error: %v, want nothing", diags)
	}
}

func TestPlaces(t *testing.T) {
	place := order.Place{File: "f.hcl", Line: 4, Column: 7}
	if got := PlaceAt(RangeAt(place)); got != place {
		t.Errorf("PlaceAt(RangeAt(%v)): got %v", place, got)
	}
	if got := RangeAt(order.Place{}); got != nil {
		t.Errorf("RangeAt of nowhere: got %v, want nil", got)
	}
	if got := PlaceAt(nil); got != (order.Place{}) {
		t.Errorf("PlaceAt(nil): got %v, want nowhere", got)
	}
	if got := CodeOf(&hcl.Diagnostic{}); got != "" {
		t.Errorf("CodeOf a diagnostic without a code: got %q", got)
	}
}

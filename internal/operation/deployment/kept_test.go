// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func TestStable(t *testing.T) {
	ctx := t.Context()
	store, err := tables.Open(filepath.Join(t.TempDir(), "state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	stored, err := (&deployment.Deployment{Name: "a", Store: store}).Lock(ctx, statestore.LockRequest{Operation: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stored.Unlock(ctx) }()
	values := map[string]cty.Value{"store.varset.x.stable.k": cty.StringVal("v").Mark(marks.Sensitive)}
	records, err := stored.StableRecords(values)
	if err != nil || len(records) != 1 {
		t.Fatalf("records %v, error %v; want one", records, err)
	}
	if err := stored.Write(ctx, "apply", records); err != nil {
		t.Fatal(err)
	}
	kept, err := stored.Stable()
	if err != nil || !maps.EqualFunc(kept, values, cty.Value.RawEquals) {
		t.Errorf("stable values are %v (%v), want %v", kept, err, values)
	}
	if records, err := stored.StableRecords(values); err != nil || len(records) > 0 {
		t.Errorf("records %v (%v) for what is kept already, want none", records, err)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package overview_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
)

// newStack makes a directory with a stack, and opens the store of its state.
func newStack(t *testing.T) (*fleet.Unit, statestore.Store) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tfcomponent.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := locations.Open(filepath.Join(dir, "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &fleet.Unit{Name: filepath.Base(dir), Kind: rollout.Components, Dir: dir}, store
}

// kinds are those of the concerns of the only unit.
func kinds(t *testing.T, units ...*fleet.Unit) []string {
	t.Helper()
	all := []string{}
	for _, u := range overview.Read(t.Context(), overview.Options{Units: units}) {
		for _, concern := range u.Concerns() {
			all = append(all, string(concern.Kind)+": "+concern.Text)
		}
	}
	return all
}

func want(t *testing.T, when string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// What is running, what was cut off, and what is in doubt, are different things.
func TestOperationsInProgress(t *testing.T) {
	unit, store := newStack(t)
	lock, err := store.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply", Owner: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	by := "by ann on " + statestore.CurrentHost()
	want(t, "locked, and nothing was stored", kinds(t, unit), "running: apply runs, "+by)
	writer, err := lock.Begin(t.Context(), statestore.Base{}, "apply", map[string][]byte{
		"CMPTcomponent.a": {}, "RSRCcomponent.a,t.x,cur": []byte("{}"), "RSRCcomponent.a,t.y,cur": []byte("{}"), "jrnlx": []byte(`{"name":"x"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	u := overview.Read(t.Context(), overview.Options{Units: []*fleet.Unit{unit}})[0]
	if s := u.State; !s.Running() || s.CutOff() || s.Components != 1 || s.Objects != 2 || s.Last.Serial != 1 || u.Deployment != "default" {
		t.Errorf("while it runs: %+v", u)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "after its process has gone", kinds(t, unit), "cut off: apply was cut off")

	lock, err = store.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	if writer, err = lock.Begin(t.Context(), writer.Base(), "recover", map[string][]byte{
		"jrnlx": nil, "dubtcomponent.a": []byte(`["t.x","t.y"]`),
	}); err != nil {
		t.Fatal(err)
	}
	if err := writer.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "recovered", kinds(t, unit), "in doubt: 2 objects in doubt after an apply that was cut off")
}

// Many stacks are read at the same time, and come in their order; one that cannot be read keeps no
// other from being shown.
func TestManyStacks(t *testing.T) {
	var units []*fleet.Unit
	for i := range 20 {
		unit, store := newStack(t)
		unit.Name = fmt.Sprintf("stack-%02d", i)
		units = append(units, unit)
		if i == 7 {
			if err := os.WriteFile(filepath.Join(unit.Dir, "cairn.state.db"), []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		lock, err := store.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		writer, err := lock.Begin(t.Context(), statestore.Base{}, "apply", map[string][]byte{"CMPTcomponent.a": {}})
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := lock.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, u := range overview.Read(t.Context(), overview.Options{Units: units, Parallel: 3}) {
		if u.Name != units[i].Name {
			t.Errorf("unit %d is %s, want %s", i, u.Name, units[i].Name)
		}
		if failed := i == 7; (u.Problem() != nil) != failed || u.State.Known == failed || u.State.Components == 1 == failed {
			t.Errorf("%s: error %v, state %+v", u.Name, u.Err, u.State)
		}
	}
}

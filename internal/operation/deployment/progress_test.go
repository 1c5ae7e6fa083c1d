// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// A state remembers the progress of a plan as long as nothing else has changed it.
func TestProgress(t *testing.T) {
	store, err := tables.Open(filepath.Join(t.TempDir(), "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // nothing is written then
	states := &deployment.Deployment{Name: settings.DefaultDeployment, Store: store}
	lock := func() *deployment.Stored {
		t.Helper()
		stored, err := states.Lock(t.Context(), statestore.LockRequest{Operation: "apply"})
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s", what, err)
		}
	}
	addr := func(name string) stackaddrs.AbsComponentInstance {
		addr, err := stackaddrs.ParseAbsComponentInstance("component." + name)
		check(name, err)
		return addr
	}
	a, b, c := addr("a"), addr("b"), addr("c")
	// apply begins with a plan, or goes on, and leaves it to the next one unless it ends it.
	apply := func(plan string, end bool, stages map[stackaddrs.AbsComponentInstance]stackplan.Stage) {
		t.Helper()
		stored := lock()
		saver := deployment.NewSaver(stored, "apply", plan)
		for addr, stage := range stages {
			check("save", saver.Save(t.Context(), stackruntime.StateChange{
				Before: stored.State.Components[addr], After: &stackstate.Component{Addr: addr}, Stage: stage,
			}))
		}
		if end {
			saver.EndPlan()
		}
		check("finish", saver.Finish(t.Context()))
		check("unlock", stored.Unlock(t.Context()))
	}
	want := func(begun *deployment.Begun) {
		t.Helper()
		stored, err := states.Read(t.Context())
		check("read", err)
		if diff := cmp.Diff(begun, stored.Begun, cmp.Comparer(func(a, b stackaddrs.AbsComponentInstance) bool { return a == b })); diff != "" {
			t.Errorf("begun (-want +got):\n%s", diff)
		}
		if len(stored.State.Discarded) > 0 {
			t.Errorf("an apply would discard %q", stored.State.Discarded)
		}
	}

	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done, b: stackplan.Begun, c: ""})
	want(&deployment.Begun{Plan: "p", Progress: stackplan.Progress{a: stackplan.Done, b: stackplan.Begun}})
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{b: stackplan.Done})
	want(&deployment.Begun{Plan: "p", Progress: stackplan.Progress{a: stackplan.Done, b: stackplan.Done}})

	// Recovered for the same plan.
	stored := lock()
	recovered := &deployment.Begun{Plan: "p", Progress: stackplan.Progress{a: stackplan.Done, b: stackplan.Done, c: stackplan.Begun}}
	check("recover", stored.Recover(t.Context(), stored.State, recovered))
	check("unlock", stored.Unlock(t.Context()))
	want(recovered)
	interrupted := maps.Clone(stored.Records)

	// Ended: nothing is left, also where nothing else is to be written.
	apply("p", true, nil)
	want(nil)

	// Another plan, or an operation without a saved one.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done})
	apply("q", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{b: stackplan.Begun})
	want(&deployment.Begun{Plan: "q", Progress: stackplan.Progress{b: stackplan.Begun}})
	apply("", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{addr("d"): stackplan.Done})
	want(nil)

	// A state that is put in the place of this one.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done})
	stored = lock()
	check("write", stored.Write(t.Context(), "push", statestore.Changes(stored.Records, interrupted)))
	check("unlock", stored.Unlock(t.Context()))
	want(nil)
	for key := range stored.Records {
		if key == "plan" || key[:4] == "prog" {
			t.Errorf("the record %q was left", key)
		}
	}

	// An operation of a version that knows nothing of all this.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done})
	raw, err := store.Lock(t.Context(), settings.DefaultDeployment, statestore.LockRequest{Operation: "apply"})
	check("lock", err)
	snapshot, err := store.Read(t.Context(), settings.DefaultDeployment)
	check("read", err)
	writer, err := raw.Begin(t.Context(), snapshot.Base(), "apply", nil)
	check("begin", err)
	check("commit", writer.Commit(t.Context()))
	check("unlock", raw.Unlock(t.Context()))
	want(nil)
}

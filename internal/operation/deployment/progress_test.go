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
	lock := func(of ...stackaddrs.AbsComponentInstance) *deployment.Stored {
		t.Helper()
		request := statestore.LockRequest{Operation: "apply"}
		for _, addr := range of {
			request.Parts = append(request.Parts, deployment.Instance(addr, true))
		}
		stored, err := states.Lock(t.Context(), request)
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
	apply := func(plan string, end bool, stages map[stackaddrs.AbsComponentInstance]stackplan.Stage, of ...stackaddrs.AbsComponentInstance) {
		t.Helper()
		stored := lock(of...)
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
	want := func(all ...*deployment.Begun) {
		t.Helper()
		stored, err := states.Read(t.Context())
		check("read", err)
		begun := map[string]stackplan.Progress{}
		for _, one := range all {
			begun[one.Plan] = one.Progress
		}
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
	check("recover", stored.Recover(t.Context(), stored.State, recovered, deployment.Remembered{}))
	check("unlock", stored.Unlock(t.Context()))
	want(recovered)
	interrupted := maps.Clone(stored.Records)

	// Ended: nothing is left, also where nothing else is to be written.
	apply("p", true, nil)
	want()

	// Another plan, or an operation without a saved one.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done})
	apply("q", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{b: stackplan.Begun})
	want(&deployment.Begun{Plan: "q", Progress: stackplan.Progress{b: stackplan.Begun}})
	apply("", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{addr("d"): stackplan.Done})
	want()

	// A state that is put in the place of this one.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done})
	stored = lock()
	check("write", stored.Write(t.Context(), "push", statestore.Changes(stored.Records, interrupted)))
	check("unlock", stored.Unlock(t.Context()))
	want()
	for key := range stored.Records {
		if key[:4] == "plan" || key[:4] == "prog" {
			t.Errorf("the record %q was left", key)
		}
	}

	// Operations on other parts, and then on the same.
	apply("p", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done}, a)
	apply("q", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{b: stackplan.Begun}, b)
	apply("", false, map[stackaddrs.AbsComponentInstance]stackplan.Stage{c: stackplan.Done}, c)
	ofP := &deployment.Begun{Plan: "p", Progress: stackplan.Progress{a: stackplan.Done}}
	want(ofP, &deployment.Begun{Plan: "q", Progress: stackplan.Progress{b: stackplan.Begun}})
	apply("q", true, map[stackaddrs.AbsComponentInstance]stackplan.Stage{b: stackplan.Done}, b)
	want(ofP)
	if stored, err := states.Read(t.Context()); err != nil || !stored.HasDone("q") || stored.HasDone("p") {
		t.Errorf("q is not done, or p is: %v", err)
	}
	apply("r", true, map[stackaddrs.AbsComponentInstance]stackplan.Stage{a: stackplan.Done}, a)
	want()
	if stored, err := states.Read(t.Context()); err != nil || !stored.HasDone("q") || !stored.HasDone("r") {
		t.Errorf("q or r is not done: %v", err)
	}
}

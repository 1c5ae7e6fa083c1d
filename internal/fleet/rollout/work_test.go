// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
)

// Units share a state if directory, workspace and deployment are the same; tasks have none, and
// unchosen units do no harm.
func TestSharingState(t *testing.T) {
	units := []Unit{
		{Name: "task", Kind: Command, Dir: "a"},
		{Name: "plain", Kind: Root, Dir: "a"},
		{Name: "blue", Kind: Root, Dir: "a", Workspace: "blue"},
		{Name: "other", Kind: Root, Dir: "b"},
		{Name: "dev", Kind: Components, Dir: "c", Deployment: "dev"},
		{Name: "prod", Kind: Components, Dir: "c", Deployment: "prod"},
		{Name: "again", Kind: Components, Dir: "c", Deployment: "prod"},
	}
	w := &Work{Units: units, Selected: order.Selection{true, true, true, true, true, true, false}}
	for unit := range units {
		w.Steps = append(w.Steps, Step{Unit: unit, Phase: Plan})
	}
	if one, other := w.SharingState(false); one != nil || other != nil {
		t.Errorf("%s and %s are said to share a state", one.Name, other.Name)
	}
	w.Selected[6] = true
	if one, other := w.SharingState(false); one == nil || one.Name != "prod" || other.Name != "again" {
		t.Errorf("got %v and %v, want prod and again", one, other)
	}
	w.Units[4].Deployment, w.Units[5].Deployment = "", "default" // which is the same
	if one, other := w.SharingState(false); one == nil || one.Name != "dev" || other.Name != "prod" {
		t.Errorf("got %v and %v, want dev and prod", one, other)
	}
}

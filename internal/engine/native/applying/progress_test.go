// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// TestProgress checks the progress messages of a change that takes 25 seconds.
func TestProgress(t *testing.T) {
	c := nativetest.New(t, fakeChain)
	plan := c.Plan(t, nil)
	synctest.Test(t, func(t *testing.T) {
		c.Fake.OnApply = func(req provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
			if req.Config.GetAttr("name").AsString() == "first" {
				<-time.After(25 * time.Second) // of virtual time
			}
			return response
		}
		applied := c.Apply(t, plan, nil)
		var got []string
		for _, event := range applied.Events {
			if event.Resource == "fake_thing.first" {
				got = append(got, fmt.Sprintf("%s %s %s %s", event.Type, event.Action, event.IDValue, event.Elapsed))
			}
		}
		want := []string{
			string(engine.ApplyStart) + " create  0s", string(engine.ApplyProgress) + " create  10s",
			string(engine.ApplyProgress) + " create  20s", string(engine.ApplyComplete) + " create made 25s",
		}
		if !slices.Equal(got, want) {
			t.Errorf("events of fake_thing.first:\n got %q\nwant %q", got, want)
		}
	})
}

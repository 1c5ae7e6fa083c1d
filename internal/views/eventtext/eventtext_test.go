// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eventtext

import (
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestMessage(t *testing.T) {
	tests := map[string]engine.Event{
		"x.y: Plan to create":             {Type: engine.PlannedChange, Action: "create"},
		"x.y: Drift detected (update)":    {Type: engine.ResourceDrift, Action: "update"},
		"x.y: Refreshing state... [id=7]": {Type: engine.RefreshStart, IDKey: "id", IDValue: "7"},
		"x.y: Refresh complete":           {Type: engine.RefreshComplete},
		"x.y: Modifying... [id=7]":        {Type: engine.ApplyStart, Action: "update", IDKey: "id", IDValue: "7"},
		"x.y: Still destroying... [id=7, 1m0s elapsed]": {
			Type: engine.ApplyProgress, Action: "delete", IDKey: "id", IDValue: "7",
			Elapsed: time.Minute,
		},
		"x.y: Still reading... [2s elapsed]":                   {Type: engine.ApplyProgress, Action: "read", Elapsed: 1600 * time.Millisecond},
		"x.y: Creation complete after 0s [name=a␛]":            {Type: engine.ApplyComplete, Action: "create", IDKey: "name", IDValue: "a\x1b"},
		"x.y: Replacement failed after 3s":                     {Type: engine.ApplyErrored, Action: "replace", Elapsed: 3 * time.Second},
		"x.y: Provisioning...":                                 {Type: engine.ProvisionStart},
		"x.y: Provisioning complete":                           {Type: engine.ProvisionComplete},
		"x.y: Provisioning failed":                             {Type: engine.ProvisionErrored},
		"x.y: Opening...":                                      {Type: engine.EphemeralStart, Action: "open"},
		"x.y: Closing complete after 0s":                       {Type: engine.EphemeralComplete, Action: "close"},
		"x.y: Working...":                                      {Type: engine.ApplyStart, Action: "unheard of"},
		"x.y: unheard_of":                                      {Type: "unheard_of"},
		"what the engine says":                                 {Type: engine.ApplyStart, Message: "what the engine says"},
		"what the engine says about it, with a control char ␇": {Message: "what the engine says about it, with a control char \a"},
	}
	for want, event := range tests {
		event.Resource = "x.y"
		if got := Message(event); got != want {
			t.Errorf("Message(%+v) = %q, want %q", event, got, want)
		}
	}
	if got, want := Message(engine.Event{Type: engine.ProvisionStart}), "Provisioning..."; got != want {
		t.Errorf("Message without a resource = %q, want %q", got, want)
	}
}

func TestStatus(t *testing.T) {
	seen := map[string]bool{}
	for _, status := range []hooks.Status{
		hooks.Pending, hooks.Planning, hooks.Planned, hooks.Deferred, hooks.Applying, hooks.Applied, hooks.Skipped, hooks.Failed, "unheard of",
	} {
		text := Status(status)
		if text == "" || seen[text] {
			t.Errorf("Status(%s) = %q, which is empty or not its own", status, text)
		}
		seen[text] = true
	}
}

func TestSummary(t *testing.T) {
	all := stackplan.Counts{Add: 1, Change: 2, Remove: 3, Import: 4, Move: 5, Forget: 6, Defer: 7}
	tests := []struct {
		operation string
		counts    stackplan.Counts
		want      string
	}{
		{"plan", stackplan.Counts{}, "Plan: 0 to add, 0 to change, 0 to destroy."},
		{"plan", all, "Plan: 4 to import, 1 to add, 2 to change, 3 to destroy, 5 to move, 6 to forget, 7 deferred."},
		{"apply", stackplan.Counts{}, "Apply complete! Resources: 0 added, 0 changed, 0 destroyed."},
		{"apply", all, "Apply complete! Resources: 4 imported, 1 added, 2 changed, 3 destroyed, 5 moved, 6 forgotten, 7 deferred."},
		{"destroy", stackplan.Counts{Remove: 2}, "Destroy complete! Resources: 2 destroyed."},
	}
	for _, test := range tests {
		if got := Summary(test.operation, test.counts); got != test.want {
			t.Errorf("Summary(%s, %+v)\n got %s\nwant %s", test.operation, test.counts, got, test.want)
		}
		if test.operation == "plan" && !strings.Contains(test.want, PlanCounts(test.counts)) {
			t.Errorf("PlanCounts(%+v) = %s, which is not part of the summary", test.counts, PlanCounts(test.counts))
		}
	}
}

func TestResuming(t *testing.T) {
	for begun, want := range map[int]string{
		0: "This plan was applied in part before: 1 of 3 components that it changes are done. Going on from there.",
		1: "This plan was applied in part before: 1 of 3 components that it changes are done, and 1 more begun. Going on from there.",
	} {
		if got := Resuming(1, begun, 3); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProviderFetch(t *testing.T) {
	for want, got := range map[string]string{
		"Fetching provider a 1.0.0 for p":                  ProviderFetch("a 1.0.0", "p", -1, -1),
		"Fetching provider a 1.0.0 for p: 1.5 MB":          ProviderFetch("a 1.0.0", "p", 1_500_000, -1),
		"Fetching 2 packages of providers: 1.5 of 30.0 MB": ProviderFetches(2, 1_500_000, 30_000_000),
		"Fetched provider a 1.0.0 for p":                   ProviderFetched("a 1.0.0", "p"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

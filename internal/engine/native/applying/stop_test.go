// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/journal"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var _ applying.Journal = (*journal.Work)(nil)

const fakeChain = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_thing" "first" {
  name = "first"
}
resource "fake_thing" "second" {
  name = fake_thing.first.id
}
`

// stoppable is the fake provider, which notices when it is stopped.
type stoppable struct {
	*nativetest.Provider
	stopped chan struct{}
}

func (s *stoppable) Stop(context.Context) error {
	close(s.stopped)
	return nil
}

// stoppableProviders are those of a component, with the stoppable one.
type stoppableProviders struct {
	*nativetest.Component
	fake *stoppable
}

func (p *stoppableProviders) Provider(
	context.Context, stackaddrs.Provider, engine.ProviderSlot,
) (provider.Provider, bool, bool, hcl.Diagnostics) {
	return p.fake, true, true, nil
}

func TestStop(t *testing.T) {
	c := nativetest.New(t, fakeChain)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fake := &stoppable{c.Fake, make(chan struct{})}
	c.Fake.OnApply = func(_ provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
		cancel()
		<-fake.stopped // the apply waits for that, and keeps the object that it returns
		return response
	}
	req := c.ApplyRequest(c.Plan(t, nil))
	req.Providers = &stoppableProviders{c, fake}
	result, diags := applying.Apply(ctx, req)
	if got, want := nativetest.ShowState(t, result.State), "fake_thing.first "; !strings.HasPrefix(got, want) ||
		strings.Contains(got, "second") {
		t.Errorf("state after the stop: %s, want only %s", got, want)
	}
	if len(diags) != 1 || diags[0].Summary != "Apply stopped" || !strings.Contains(diags[0].Detail, "create fake_thing.second") {
		t.Errorf("diagnostics after the stop: %v, want one about fake_thing.second", diags)
	}
}

// book is a journal that notes the calls of its methods.
type book struct {
	mu     sync.Mutex
	lines  []string
	refuse bool
}

func (b *book) note(line string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
	if b.refuse {
		return errors.New("the disk is full")
	}
	return nil
}

func (b *book) Intend(addr stackaddrs.ResourceInstance, _ stackaddrs.DeposedKey, action engine.Action) error {
	return b.note("intend " + string(action) + " " + addr.String())
}
func (b *book) Store(e tfstate.Entry) error { return b.note("store " + e.Addr.String()) }
func (b *book) Remove(addr stackaddrs.ResourceInstance, _ stackaddrs.DeposedKey) error {
	return b.note("remove " + addr.String())
}

func (b *book) Unchanged(addr stackaddrs.ResourceInstance, _ stackaddrs.DeposedKey) error {
	return b.note("unchanged " + addr.String())
}

func TestJournal(t *testing.T) {
	for name, test := range map[string]struct {
		name   string // of the first object
		refuse bool
		want   []string
	}{
		"good": {"first", false, []string{
			"intend create fake_thing.first", "store fake_thing.first", "intend create fake_thing.second", "store fake_thing.second",
		}},
		"fails":     {"fail null", false, []string{"intend create fake_thing.first", "unchanged fake_thing.first"}},
		"in doubt":  {"nothing", false, []string{"intend create fake_thing.first"}},
		"nonsense":  {"write-only", false, []string{"intend create fake_thing.first"}},
		"no object": {"null", false, []string{"intend create fake_thing.first"}},
		"refuses":   {"first", true, []string{"intend create fake_thing.first"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := nativetest.New(t, strings.Replace(fakeChain, `"first"`+"\n}", `"`+test.name+`"`+"\n}", 1))
			obey(c.Fake)
			b := &book{refuse: test.refuse}
			applied := c.Apply(t, c.Plan(t, nil), func(req *applying.Request) { req.Journal = b })
			if !slices.Equal(b.lines, test.want) {
				t.Errorf("the journal has %q, want %q", b.lines, test.want)
			}
			if test.refuse && slices.Contains(c.Fake.Calls(), "apply fake_thing first") {
				t.Errorf("the provider was asked without an entry in the journal: %v", applied.Diags)
			}
		})
	}
}

// provisioners end as they are told.
type provisioners struct{ fail bool }

func (p provisioners) Provision(_ context.Context, req *applying.ProvisionRequest) hcl.Diagnostics {
	req.Observe.Observe(engine.Event{Type: engine.ProvisionStart, Resource: "fake_thing.first"})
	if p.fail {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Failed"}}
	}
	return nil
}

// TestProvisionersArePartOfChanges checks that a change ends, and is in doubt no more, when its
// provisioners have ended.
func TestProvisionersArePartOfChanges(t *testing.T) {
	const module = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_thing" "first" {
  name = "first"
  provisioner "local-exec" {
    command = "true"
  }
}
`
	type end struct {
		line  string // of the journal
		event engine.EventType
	}
	for fail, end := range map[bool]end{
		false: {"store fake_thing.first", engine.ApplyComplete},
		true:  {"unchanged fake_thing.first", engine.ApplyErrored},
	} {
		c := nativetest.New(t, module)
		b := &book{}
		applied := c.Apply(t, c.Plan(t, nil), func(req *applying.Request) { req.Journal, req.Provisioners = b, provisioners{fail} })
		if want := []string{
			"intend create fake_thing.first", "store fake_thing.first", "store fake_thing.first", "intend create fake_thing.first", end.line,
		}; !slices.Equal(b.lines, want) {
			t.Errorf("fails: %t: the journal has %q, want %q", fail, b.lines, want)
		}
		var events []engine.EventType
		for _, event := range applied.Events {
			if event.Resource == "fake_thing.first" {
				events = append(events, event.Type)
			}
		}
		if want := []engine.EventType{engine.ApplyStart, engine.ProvisionStart, end.event}; !slices.Equal(events, want) {
			t.Errorf("fails: %t: the events are %q, want %q", fail, events, want)
		}
	}
}

// TestInconsistent checks that nothing is changed when plans and inputs are not those of the
// planning (rule A1).
func TestInconsistent(t *testing.T) {
	c := nativetest.New(t, fakeChain)
	plan := c.Plan(t, nil)
	c.Fake.OnPlan = func(_ provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		values := response.Planned.AsValueMap()
		values["size"] = cty.NumberIntVal(7)
		response.Planned, response.LegacyTypeSystem = cty.ObjectVal(values), true
		return response
	}
	if got := c.Apply(t, plan, nil); got.Diags.HasErrors() {
		t.Errorf("a second plan that knows more: %v", got.Diags)
	}

	c = nativetest.New(t, strings.Replace(fakeChain, `"first"`+"\n}", "\"first\"\nsize = 1\n}", 1))
	plan = c.Plan(t, nil)
	c.Fake.OnPlan = func(_ provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		values := response.Planned.AsValueMap()
		values["size"] = cty.NumberIntVal(7)
		response.Planned, response.LegacyTypeSystem = cty.ObjectVal(values), true
		return response
	}
	got := c.Apply(t, plan, nil)
	const want = "error: Provider produced inconsistent final plan of fake_thing.first at main.tf:6\n"
	if nativetest.ShowDiagnostics(got.Diags) != want {
		t.Errorf("a second plan that says something else: %s, want %s", nativetest.ShowDiagnostics(got.Diags), want)
	}
	if slices.ContainsFunc(c.Fake.Calls(), func(call string) bool { return strings.HasPrefix(call, "apply") }) {
		t.Errorf("the provider was asked to apply: %v", c.Fake.Calls())
	}
}

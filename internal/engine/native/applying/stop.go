// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// intend is called before a provider is asked to change something. It is false if that must not
// begin.
func (a *applier) intend(t *resource.Target, deposed stackaddrs.DeposedKey, action engine.Action) bool {
	a.mu.Lock()
	stopped := a.mu.stopped
	a.mu.asked[t.Provider] = true
	a.mu.Unlock()
	if stopped {
		return false
	}
	if a.Journal == nil || t.Of.IsBuiltin() { // which changes nothing outside
		return true
	}
	return a.recorded(t.Addr, a.Journal.Intend(t.Addr, deposed, action))
}

// stop lets no step begin any more, and asks the providers to end their requests soon (rule A4).
func (a *applier) stop(ctx context.Context) {
	a.mu.Lock()
	a.mu.stopped = true
	asked := make([]provider.Provider, 0, len(a.mu.asked))
	for p := range a.mu.asked {
		asked = append(asked, p)
	}
	a.mu.Unlock()
	close(a.stopped)
	for _, p := range asked {
		if err := p.Stop(ctx); err != nil {
			a.eval.Diagnostics.Add(failure.Warning("Provider not stopped", "A provider could not be asked to end its work soon: %s.", err))
		}
	}
}

func (a *applier) isStopped() bool {
	select {
	case <-a.stopped:
		return true
	default:
		return false
	}
}

// notBegun reports which changes were not begun after the work was stopped.
func (a *applier) notBegun() {
	var left []*step
	for _, s := range a.steps {
		if s.halted && s.kind != joinStep && s.change.Action != engine.ActionNoOp {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return
	}
	slices.SortFunc(left, func(a, b *step) int { return cmp.Or(a.change.Compare(b.change), cmp.Compare(a.kind, b.kind)) })
	var text strings.Builder
	text.WriteString("The work was stopped. These changes were not begun:\n")
	for _, s := range left {
		if s.changed == nil {
			text.WriteString("\n  - " + s.described())
		}
		for _, i := range s.left {
			text.WriteString("\n  - invoke " + i.Addr.String() + " for " + s.change.Addr.String())
		}
	}
	a.eval.Diagnostics.Add(failure.New("Apply stopped", "%s", text.String()))
}

func (s *step) described() string {
	object := stackaddrs.ResourceInstanceObject{Instance: s.change.Addr, Deposed: s.deposed}.String()
	switch {
	case s.kind == destroyStep:
		return "destroy " + object
	case s.kind == forgetStep:
		return "forget " + object
	case s.kind == readStep:
		return "read " + object
	case s.change.Action == engine.ActionUpdate:
		return "update " + object
	default:
		return "create " + object
	}
}

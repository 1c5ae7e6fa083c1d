// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Recorder notes when an engine works on component instances. The zero value has noted nothing.
// Safe for concurrent use.
type Recorder struct {
	mu   sync.Mutex
	work []Work
}

// Watch returns hooks that note the work besides.
func (r *Recorder) Watch(watch hooks.Hooks) hooks.Hooks {
	watch.ComponentWork = Following(r.Add).Within(watch.ComponentWork)
	return watch
}

// Following returns a hook that notes each piece of work when it has ended. The function note is
// called from several goroutines.
func Following(note func(Work)) hooks.WorkFunc {
	return func(ctx context.Context, component stackaddrs.AbsComponentInstance, kind hooks.WorkKind) (context.Context, hooks.Work) {
		var began time.Time
		return ctx, hooks.Work{
			Began: func() { began = time.Now() },
			Ended: func(diags hcl.Diagnostics) {
				if !began.IsZero() {
					note(Work{component.String(), string(kind), began, time.Since(began).Seconds(), diags.HasErrors()})
				}
			},
		}
	}
}

// Reset drops all that was noted.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work = nil
}

// Add notes a piece of work.
func (r *Recorder) Add(work Work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work = append(r.work, work)
}

// Between returns the work that has begun in a time, in the order of its beginnings.
func (r *Recorder) Between(begin, end time.Time) []Work {
	r.mu.Lock()
	defer r.mu.Unlock()
	var within []Work
	for _, work := range r.work {
		if !work.Started.Before(begin) && !work.Started.After(end) {
			within = append(within, work)
		}
	}
	slices.SortStableFunc(within, func(a, b Work) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Component, b.Component))
	})
	return within
}

// Applied returns the timeline of the apply of a plan: each component instance is a row, with the
// work of applying it, and comes after those that it requires, or when it is destroyed, after those
// that require it.
func (r *Recorder) Applied(plan *stackplan.Plan) Timeline {
	r.mu.Lock()
	defer r.mu.Unlock()
	after := map[string][]string{}
	instances := map[stackaddrs.AbsComponent][]string{}
	for _, component := range plan.Components {
		of := stackaddrs.ComponentOf(component.Addr)
		instances[of] = append(instances[of], component.Addr.String())
	}
	for _, component := range plan.Components {
		name := component.Addr.String()
		for _, required := range component.Requires {
			for _, other := range instances[required] {
				if component.Action == stackplan.Delete {
					after[other] = append(after[other], name)
				} else {
					after[name] = append(after[name], other)
				}
			}
		}
	}
	var t Timeline
	for _, work := range r.work {
		if work.Kind == string(hooks.WorkApply) {
			step := Step{Phase: work.Kind, Started: work.Started, Seconds: work.Seconds, After: after[work.Component]}
			t.Rows = append(t.Rows, Row{Name: work.Component, Steps: []Step{step}})
		}
	}
	return t
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reading

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/page/model"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// baseCache keeps the state before the serial that goes on, which does not change.
type baseCache struct {
	mu      sync.Mutex
	name    string // of the unit
	lineage string
	serial  int64
	records map[string][]byte
}

func (c *baseCache) of(name string, at statestore.Base, read func() (map[string][]byte, error)) (map[string][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records != nil && c.name == name && c.lineage == at.Lineage && c.serial == at.Serial {
		return c.records, nil
	}
	records, err := read()
	if err == nil {
		c.name, c.lineage, c.serial, c.records = name, at.Lineage, at.Serial, records
	}
	return records, err
}

// Version identifies what a look at the progress would show, as far as that can be known without
// reading the state: it is cheap, and differs when something has happened.
func (r *Repository) Version(ctx context.Context, u overview.Unit) (string, error) {
	return in(r, u, func(stack *operation.Stack) (string, error) {
		opened, err := stack.States().Deployment(ctx)
		if err != nil {
			return "", err
		}
		holders, err := opened.Store.Holders(ctx, opened.Name)
		if err != nil {
			return "", err
		}
		newest, err := opened.Store.Newest(ctx)
		if err != nil {
			return "", err
		}
		text := fmt.Sprint(newest[opened.Name])
		for _, holder := range holders {
			text += fmt.Sprint(" ", holder.ID, holder.Seen.UnixMilli(), holder.Process()) // which writes nothing when it is killed
		}
		return text, nil
	})
}

// Progress looks at the running operation of a deployment.
func (r *Repository) Progress(ctx context.Context, u overview.Unit, shown model.Unit) (model.Progress, error) {
	return in(r, u, func(stack *operation.Stack) (model.Progress, error) {
		page := model.Progress{Unit: shown, Pictured: u.State.Components <= model.MostPictured}
		opened, err := stack.States().Deployment(ctx)
		if err != nil {
			return page, err
		}
		holders, err := opened.Store.Holders(ctx, opened.Name)
		if err != nil {
			return page, err
		}
		for i := range holders {
			page.Holders = append(page.Holders, newHolder(&holders[i]))
		}
		page.Running = (&overview.State{Holders: holders}).Running()
		snapshot, err := opened.Store.Read(ctx, opened.Name)
		if err != nil || snapshot.Serial == 0 {
			return page, err
		}
		serial := model.NewSerial(snapshot.Version)
		page.Serial, page.Unfinished = &serial, snapshot.Unfinished()
		base := statestore.Base{Lineage: snapshot.Lineage, Serial: snapshot.Serial - 1}
		before, err := r.bases.of(u.Name, base, func() (map[string][]byte, error) {
			base, err := opened.Store.ReadSerial(ctx, opened.Name, snapshot.Serial-1)
			if err != nil {
				return nil, err
			}
			return base.Records, nil
		})
		if err != nil {
			return page, err
		}
		return page, worked(&page, before, snapshot.Records)
	})
}

func newHolder(h *statestore.LockInfo) model.Holder {
	holder := model.Holder{
		Text:  model.Text(fmt.Sprintf("%s by %s on %s (process %d, %s)", h.Operation, h.Owner, h.Host, h.PID, h.Process())),
		Since: model.NewTime(h.Started),
	}
	for _, part := range h.Locked() {
		if part.Exclusive && part.Name() != "" && len(holder.Parts) < mostParts {
			holder.Parts = append(holder.Parts, model.Text(part.Name()))
		}
	}
	return holder
}

// mostParts and mostWorked are how many locked parts, and components, are shown.
const (
	mostParts  = 20
	mostWorked = 200
)

// worked adds the components that the newest serial has to do with, by the records that it has
// changed and those of its operation.
func worked(page *model.Progress, before, after map[string][]byte) error {
	activity, err := deployment.ActivityIn(after)
	if err != nil {
		return err
	}
	all := map[string]*model.WorkedOn{}
	of := func(name string) *model.WorkedOn {
		if all[name] == nil {
			all[name] = &model.WorkedOn{Name: model.Text(name), Stage: model.Changed, Class: "attention"}
			if addr, err := stackaddrs.ParseAbsComponentInstance(name); err == nil {
				all[name].Of = stackaddrs.ComponentOf(addr)
			}
		}
		return all[name]
	}
	for _, text := range changedKeys(before, after) {
		key, err := stackstate.ParseKey(text)
		if err != nil {
			continue // of an operation
		}
		switch key.Kind {
		case stackstate.ResourceKind:
			of(key.Component.String()).Objects++
		case stackstate.ComponentKind:
			w := of(key.Component.String())
			switch {
			case after[text] == nil:
				w.Stage, w.Class = "gone", "quiet"
			case hasOutputs(key, after[text]): // which are known when all of it was done
				w.Stage, w.Class = "done", "good"
			}
		}
	}
	begun, class := "in work", "busy"
	if !page.Running { // it failed, or was cut off
		begun, class = "not done", "attention"
	}
	for addr, stage := range activity.Stages {
		w := of(addr.String())
		w.Stage, w.Class = begun, class
		if stage == stackplan.Done {
			w.Stage, w.Class = "done", "good"
		}
	}
	for name, resources := range activity.Touched {
		w := of(name)
		w.Stage, w.Class = begun, class
		for i, resource := range resources {
			if i < mostParts {
				w.Touched = append(w.Touched, model.Text(resource))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := all[name]
		switch {
		case w.Stage != model.Changed || page.Unfinished:
		case len(activity.Stages) > 0: // the plan knows what is done
			w.Stage, w.Class = begun, class
		default: // the state does not know how the operation has ended for a component without outputs
			w.Class = "quiet"
		}
		if w.Over() {
			page.Done++
		}
		if len(page.Components) == mostWorked {
			page.More++
			continue
		}
		page.Components = append(page.Components, *w)
	}
	return nil
}

// hasOutputs reports whether a component has outputs, and knows all of them.
func hasOutputs(key stackstate.Key, record []byte) bool {
	state, err := stackstate.FromRecords(map[string][]byte{key.String(): record})
	if err != nil || state.Components[key.Component] == nil {
		return false
	}
	outputs := state.Components[key.Component].Outputs
	for _, value := range outputs {
		if unmarked, _ := value.UnmarkDeep(); !unmarked.IsWhollyKnown() {
			return false
		}
	}
	return len(outputs) > 0
}

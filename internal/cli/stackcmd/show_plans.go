// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/fleet/savedplan"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/workers/runs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// savedPlan is a plan that was read from a file.
type savedPlan struct {
	savedplan.Plan
	unit *planset.Unit // of a set
}

// readPlans reads the plan in a file, or those of a set in a directory or of a run. There is no set
// of a file.
func readPlans(ctx context.Context, s *session.Session, path string) ([]savedPlan, *planset.Set, error) {
	if id, ok := strings.CutPrefix(path, session.OfRun); ok {
		dir, remove, err := fetchSet(ctx, s, id)
		if err != nil {
			return nil, nil, err
		}
		defer remove()
		path = dir
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		plan, err := savedplan.Read(ctx, s.Stack(), path)
		return []savedPlan{{Plan: plan}}, nil, err
	}
	keys, err := s.Stack().Env().Keys()
	if err != nil {
		return nil, nil, err
	}
	set, _, err := planset.Read(ctx, path, keys)
	if err != nil {
		return nil, nil, err
	}
	var plans []savedPlan
	for i := range set.Units {
		unit := &set.Units[i]
		plan, err := savedplan.ReadUnit(ctx, stackOf(s, unit), set, unit)
		if err != nil {
			return nil, nil, err
		}
		plans = append(plans, savedPlan{plan, unit})
	}
	return plans, set, nil
}

// fetchSet writes the set that is kept with a run into a new directory, which the caller removes.
func fetchSet(ctx context.Context, s *session.Session, id string) (dir string, remove func(), err error) {
	found, err := s.WorkersHere()
	if err != nil {
		return "", nil, err
	}
	opened, key, err := s.ConnectToWorkers(ctx, found, "cairn show")
	if err != nil {
		return "", nil, err
	}
	defer opened.Close() //nolint:errcheck // nothing was written
	return s.SetOfRun(ctx, &runs.Store{Records: opened.Records, Key: key}, id)
}

// stackOf returns the stack of a unit, whose settings name the keys of its plan.
func stackOf(s *session.Session, unit *planset.Unit) *operation.Stack {
	if unit.Module != nil {
		return s.Stack()
	}
	surroundings := s.Stack().Env()
	options := operation.Options{Env: env.Options{Dir: surroundings.Dir, Workspace: surroundings.Workspace, Environ: surroundings.Environ}}
	return operation.Open(savedplan.StackOf(options, unit))
}

// id names the plan in the history; "" for a root module, which has none.
func (p savedPlan) id() string { return stackplan.ShortIdentity(p.Made.Identity) }

// write shows the plan for a person.
func (p savedPlan) write(s *session.Session, options views.Options) error {
	switch {
	case p.Private:
		return p.writeAddresses(s)
	case p.IsRoot:
		return views.WriteModulePlan(s.Streams.Out, p.Plan.Plan, options)
	}
	return views.WritePlan(s.Streams.Out, p.Plan.Plan, options)
}

// writeAddresses shows each change as its action and address, without values.
func (p savedPlan) writeAddresses(s *session.Session) error {
	var b strings.Builder
	for _, change := range p.Components[0].Changes {
		if stackplan.IsChange(change) {
			fmt.Fprintf(&b, "  %s %s\n", change.Action, safetext.Name(change.Address()))
		}
	}
	for _, later := range p.Components[0].Deferred {
		fmt.Fprintf(&b, "  deferred %s\n", safetext.Name(later.Change.Address()))
	}
	if b.Len() == 0 {
		b.WriteString("No changes of resources.\n")
	}
	b.WriteString("\n" + savedplan.ValuesOmitted + "\n")
	_, err := s.Streams.Out.Write([]byte(b.String()))
	return err
}

// rootPlanDocument is the document of a plan of which some values may have been left out.
type rootPlanDocument struct {
	document.Plan
	ValuesOmitted bool `json:"values_omitted,omitempty"`
}

func (p savedPlan) document(prior *stackstate.State) any {
	doc := document.NewPlan(p.Shown(), document.PlanOptions{CairnVersion: p.Made.CairnVersion, Identity: p.Made.Identity, Prior: prior})
	if !p.IsRoot {
		return doc
	}
	for i := range doc.Components { // the module itself, which has no address
		doc.Components[i].Address, doc.Components[i].Component = "", ""
	}
	return rootPlanDocument{doc, p.Private}
}

// writeSet shows the plans of a set for a person, in their order.
func writeSet(s *session.Session, plans []savedPlan, options views.Options) error {
	for i, plan := range plans {
		if i > 0 {
			s.Line("")
		}
		heading := fmt.Sprintf("%s (%s, %s)", safetext.Name(plan.Name), plan.unit.Kind, safetext.Name(plan.unit.Path))
		if id := plan.id(); id != "" {
			heading += ": plan " + id
		}
		s.Line("%s", heading)
		s.Line("")
		if err := plan.write(s, options); err != nil {
			return failure.AsError(failure.Diagnostics(err))
		}
	}
	return nil
}

// setDocument is the output of -json for a set.
type setDocument struct {
	FormatVersion string    `json:"format_version"`
	CairnVersion  string    `json:"cairn_version"`
	Created       time.Time `json:"created"`
	Units         []setUnit `json:"units"` // in their order
}

type setUnit struct {
	Name       string            `json:"name"`
	Kind       string            `json:"kind"`
	Path       string            `json:"path"`
	Deployment string            `json:"deployment,omitempty"`
	Workspace  string            `json:"workspace,omitempty"`
	After      []string          `json:"after"`
	Changes    *stackplan.Counts `json:"changes,omitempty"`
	Plan       any               `json:"plan"`
}

func writeSetDocument(s *session.Session, set *planset.Set, plans []savedPlan) error {
	doc := setDocument{FormatVersion: document.FormatVersion, CairnVersion: set.CairnVersion, Created: set.Created, Units: []setUnit{}}
	for _, plan := range plans {
		u := plan.unit
		doc.Units = append(doc.Units, setUnit{u.Name, u.Kind, u.Path, u.Deployment, u.Workspace, u.After, u.Counts, plan.document(nil)})
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

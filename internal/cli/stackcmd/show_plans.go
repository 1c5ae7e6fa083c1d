// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// savedPlan is a plan that was read from a file.
type savedPlan struct {
	*stackplan.Plan
	made stackplan.FileContext // of a stack
	name string
	unit *planset.Unit // of a set

	isRoot  bool   // it is that of a root module
	file    []byte // of a root module, as terraform or tofu has written it
	private bool   // nobody here knows which of its values are sensitive
}

// readPlans reads the plan in a file, or those of a set in a directory. There is no set of a file.
func readPlans(ctx context.Context, s *session.Session, path string) ([]savedPlan, *planset.Set, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		plan, err := readPlan(ctx, s.Stack(), path)
		return []savedPlan{plan}, nil, err
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
		plan, err := readPlan(ctx, stackOf(s, unit), filepath.Join(path, filepath.FromSlash(unit.Plan)))
		if err != nil {
			return nil, nil, err
		}
		plan.name, plan.unit = unit.Name, unit
		plans = append(plans, plan)
	}
	return plans, set, nil
}

// stackOf returns the stack of a unit, whose settings name the keys of its plan. Plans of root
// modules are encrypted as the set is.
func stackOf(s *session.Session, unit *planset.Unit) *operation.Stack {
	if unit.Module != nil {
		return s.Stack()
	}
	surroundings := s.Stack().Env()
	dir := filepath.Join(surroundings.WorkspaceDir(), filepath.FromSlash(unit.Path))
	return operation.Open(operation.Options{Env: env.Options{Dir: dir, Environ: surroundings.Environ}})
}

func readPlan(ctx context.Context, stack *operation.Stack, path string) (savedPlan, error) {
	plan, made, err := stack.ReadPlan(ctx, path)
	if planfile.IsOther(err) { // and no plan of a stack that was cut short: the plan of a module is whole in it
		if text, readErr := readFile(ctx, stack, path); readErr == nil {
			if root, rootErr := rootmodule.ReadPlan(text); rootErr == nil {
				return savedPlan{Plan: root.Plan, name: fileName(path), isRoot: true, file: text, private: root.Private}, nil
			}
		}
	}
	if err != nil {
		return savedPlan{}, err
	}
	name := cmp.Or(made.Stack, fileName(path))
	if made.Deployment != "" && made.Deployment != settings.DefaultDeployment {
		name += " (" + made.Deployment + ")"
	}
	return savedPlan{Plan: plan, made: made, name: name}, nil
}

// readFile reads the plan file of a root module.
func readFile(ctx context.Context, stack *operation.Stack, path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil || !encryption.IsSealedFile(file) {
		return file, err
	}
	keys, err := stack.Env().Keys()
	if err != nil {
		return nil, err
	}
	return keys.OpenFile(ctx, encryption.PlanFile, "the plan file "+path, file)
}

func fileName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".plan"), ".tfplan")
}

// id names the plan in the history; "" for a root module, which has none.
func (p savedPlan) id() string { return stackplan.ShortIdentity(p.made.Identity) }

// write shows the plan for a person.
func (p savedPlan) write(s *session.Session, options views.Options) error {
	switch {
	case p.private:
		return p.writeAddresses(s)
	case p.isRoot:
		return views.WriteModulePlan(s.Streams.Out, p.Plan, options)
	}
	return views.WritePlan(s.Streams.Out, p.Plan, options)
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
	b.WriteString("\nValues are not shown: only the providers of a root module know which of them are sensitive.\n")
	_, err := s.Streams.Out.Write([]byte(b.String()))
	return err
}

// rootPlanDocument is the document of a plan of which some values may have been left out.
type rootPlanDocument struct {
	document.Plan
	ValuesOmitted bool `json:"values_omitted,omitempty"`
}

func (p savedPlan) document(prior *stackstate.State) any {
	plan := p.Plan
	if p.private {
		plan = withoutValues(plan)
	}
	doc := document.NewPlan(plan, document.PlanOptions{CairnVersion: p.made.CairnVersion, Identity: p.made.Identity, Prior: prior})
	if !p.isRoot {
		return doc
	}
	for i := range doc.Components { // the module itself, which has no address
		doc.Components[i].Address, doc.Components[i].Component = "", ""
	}
	return rootPlanDocument{doc, p.private}
}

// withoutValues leaves out the values of resources.
func withoutValues(plan *stackplan.Plan) *stackplan.Plan {
	without := func(change *engine.Change) *engine.Change {
		bare := *change
		bare.Before, bare.After = cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.DynamicPseudoType)
		return &bare
	}
	all := func(changes []*engine.Change) []*engine.Change {
		bare := make([]*engine.Change, 0, len(changes))
		for _, change := range changes {
			bare = append(bare, without(change))
		}
		return bare
	}
	copied := *plan
	copied.Components = nil
	for _, component := range plan.Components {
		bare := *component
		bare.Changes, bare.Drift, bare.Deferred = all(component.Changes), all(component.Drift), slices.Clone(component.Deferred)
		for i := range bare.Deferred {
			bare.Deferred[i].Change = without(bare.Deferred[i].Change)
		}
		copied.Components = append(copied.Components, &bare)
	}
	return &copied
}

// writeSet shows the plans of a set for a person, in their order.
func writeSet(s *session.Session, plans []savedPlan, options views.Options) error {
	for i, plan := range plans {
		if i > 0 {
			s.Line("")
		}
		heading := fmt.Sprintf("%s (%s, %s)", safetext.Name(plan.name), plan.unit.Kind, safetext.Name(plan.unit.Path))
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

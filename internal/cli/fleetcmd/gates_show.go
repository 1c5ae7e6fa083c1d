// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// stacks returns the units that are selected, those of a stack together.
func (g *gates) stacks() [][]int {
	var stacks [][]int
	at := map[string]int{}
	for _, unit := range g.work.Chosen() {
		name := g.work.Units[unit].StackName()
		if _, known := at[name]; !known {
			at[name] = len(stacks)
			stacks = append(stacks, nil)
		}
		stacks[at[name]] = append(stacks[at[name]], unit)
	}
	return stacks
}

// writeSteps shows the stacks that belong to a change, and the steps in which it is done.
func (g *gates) writeSteps() {
	after := g.namesAfter()
	for _, units := range g.stacks() {
		first := g.work.Units[units[0]]
		g.session.Line("%s%s", first.StackName(), g.notes(&first, after[first.StackName()]))
		for _, unit := range units {
			u := g.work.Units[unit]
			name := u.Name
			if u.Stack == "" && u.Kind != rollout.Command {
				name = g.Shown(u.Path)
			}
			switch {
			case g.options.tree.changed || g.options.tree.gone || g.options.tree.along.Any():
				g.session.Line("  %s: %s", name, strings.Join(u.Reasons, "; "))
			case name != first.StackName(): // everything is asked for, and this says where it is
				g.session.Line("  %s", name)
			}
		}
	}
	g.session.Print("\n")
	for i, batch := range g.batches() {
		var names []string
		for _, unit := range batch.Units {
			names = append(names, g.work.Units[unit].Name)
		}
		text := fmt.Sprintf("%d. %s %s", i+1, g.phaseName(batch.Phase), strings.Join(names, ", "))
		if i > 0 && g.mode == rollout.PlanOnly && !g.work.PlansAhead {
			text += ", if nothing before has changes to apply"
		}
		g.session.Line("%s", text)
	}
}

// batches are the steps that are done.
func (g *gates) batches() []rollout.Batch {
	return slices.DeleteFunc(g.work.Batches(), func(batch rollout.Batch) bool {
		return g.mode == rollout.PlanOnly && batch.Phase == rollout.Apply
	})
}

// namesAfter returns by stack and phase the names of the other stacks and tasks that it waits for
// directly, sorted.
func (g *gates) namesAfter() map[string]map[rollout.Phase][]string {
	after := map[string]map[rollout.Phase][]string{}
	for n, units := range g.work.After() {
		own, phase := g.work.Units[g.work.Steps[n].Unit].StackName(), g.work.Steps[n].Phase
		if after[own] == nil {
			after[own] = map[rollout.Phase][]string{}
		}
		for _, unit := range units {
			if name := g.work.Units[unit].StackName(); name != own && !slices.Contains(after[own][phase], name) {
				after[own][phase] = append(after[own][phase], name)
			}
		}
		slices.Sort(after[own][phase])
	}
	return after
}

// notes names the dependencies of a stack, and says whether it waits for a person.
func (g *gates) notes(unit *rollout.Unit, after map[rollout.Phase][]string) string {
	note := ""
	if unit.Kind == rollout.Command {
		note = ", task"
	}
	for _, phase := range []rollout.Phase{rollout.Run, rollout.Plan} {
		if names := after[phase]; len(names) > 0 {
			note += ", after " + strings.Join(names, ", ")
		}
	}
	if names := after[rollout.Apply]; len(names) > 0 {
		done := "applied"
		if g.mode == rollout.Destroy {
			done = "destroyed"
		}
		note += fmt.Sprintf(", %s after %s", done, strings.Join(names, ", "))
	}
	if unit.When != "" {
		note += ", " + unit.When
	}
	if len(unit.Requirements) > 0 && g.mode != rollout.Destroy {
		note += ", requires " + strings.Join(unit.Requirements, " and ")
	}
	if unit.AutoApply && g.mode != rollout.Destroy {
		note += ", auto_apply"
	}
	return note
}

func (g *gates) phaseName(phase rollout.Phase) string {
	if phase == rollout.Apply && g.mode == rollout.Destroy {
		return string(rollout.Destroy)
	}
	return string(phase)
}

// heldBy returns the names of the other stacks and tasks that come before a phase of a stack,
// sorted.
func (g *gates) heldBy(units []int, phase rollout.Phase) []string {
	return g.namesOf(units, func(unit int) []int { return g.work.HeldBy(unit, phase) })
}

// namesOf returns the sorted names of the stacks that the function others finds for some units,
// without their own stack.
func (g *gates) namesOf(units []int, others func(unit int) []int) []string {
	names := []string{}
	for _, unit := range units {
		for _, other := range others(unit) {
			names = append(names, g.work.Units[other].StackName())
		}
	}
	own := g.work.Units[units[0]].StackName()
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == own })
}

// gateDocument is the output of -dry-run -json.
type gateDocument struct {
	FormatVersion string                  `json:"format_version"`
	Stacks        []gateStack             `json:"stacks"`
	Steps         []gateStep              `json:"steps"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

type gateStack struct {
	Name        string          `json:"name"`
	AutoApply   bool            `json:"auto_apply"`
	Groups      []string        `json:"groups,omitempty"`
	PlanAfter   []string        `json:"plan_after"`     // parts of this change before the plan, or before a task
	ApplyAfter  []string        `json:"apply_after"`    // the same, and those before the apply
	Type        string          `json:"type"`           // "stack" or "task"
	When        string          `json:"when,omitempty"` // the condition under which a task runs
	Directories []gateDirectory `json:"directories"`
}

type gateDirectory struct {
	Directory  string   `json:"directory"` // from the root of the repository
	Workspace  string   `json:"workspace,omitempty"`
	Deployment string   `json:"deployment,omitempty"`
	Tags       []string `json:"tags"`
	Reason     string   `json:"reason"`
	Reasons    []string `json:"reasons"`

	Requirements []string `json:"requirements,omitempty"` // for an apply, which are not checked
}

type gateStep struct {
	Action      string         `json:"action"`
	Stacks      []string       `json:"stacks"`
	Directories []gateDirspace `json:"directories"`
}

type gateDirspace struct {
	Directory  string `json:"directory"`
	Workspace  string `json:"workspace,omitempty"`
	Deployment string `json:"deployment,omitempty"`
}

func (g *gates) writeDocument() error {
	doc := gateDocument{
		FormatVersion: document.FormatVersion, Stacks: []gateStack{}, Steps: []gateStep{},
		Diagnostics: diagnostic.All(g.diags, g.session.Sources()),
	}
	for _, units := range g.stacks() {
		doc.Stacks = append(doc.Stacks, g.stackDocument(units))
	}
	for _, batch := range g.batches() {
		step := gateStep{Action: g.phaseName(batch.Phase)}
		for _, unit := range batch.Units {
			u := g.work.Units[unit]
			step.Stacks = append(step.Stacks, u.StackName())
			step.Directories = append(step.Directories, gateDirspace{u.Path, workspaceOf(&u), u.Deployment})
		}
		slices.Sort(step.Stacks)
		step.Stacks = slices.Compact(step.Stacks)
		doc.Steps = append(doc.Steps, step)
	}
	return document.WriteDocument(g.session.Streams.Out, doc, true)
}

func (g *gates) stackDocument(units []int) gateStack {
	first := g.work.Units[units[0]]
	stack := gateStack{Name: first.StackName(), Type: "stack", When: first.When, AutoApply: first.AutoApply, Groups: first.Groups}
	if first.Kind == rollout.Command {
		stack.Type = "task"
		stack.PlanAfter = g.heldBy(units, rollout.Run)
		stack.ApplyAfter = stack.PlanAfter
	} else {
		stack.PlanAfter, stack.ApplyAfter = g.heldBy(units, rollout.Plan), g.heldBy(units, rollout.Apply)
	}
	for _, unit := range units {
		u := g.work.Units[unit]
		stack.Directories = append(stack.Directories, gateDirectory{
			u.Path, workspaceOf(&u), u.Deployment, u.Tags, u.Reasons[0], u.Reasons, u.Requirements,
		})
	}
	return stack
}

// workspaceOf is the name of the workspace of a root module, "" of something else.
func workspaceOf(u *rollout.Unit) string {
	if u.Kind == rollout.Root && u.Workspace == "" {
		return rollout.DefaultWorkspace
	}
	return u.Workspace
}

// endStates are all states in which something can end, in the order in which they are counted.
var endStates = []rollout.State{
	rollout.Applied, rollout.Destroyed, rollout.NoChanges, rollout.Ran, rollout.Passed,
	rollout.InPart, rollout.Planned, rollout.Waiting, rollout.Failed, rollout.Skipped, rollout.NotStarted,
}

// summarize shows how everything ended, and how many in which way, and returns the exit code.
func (g *gates) summarize(ends []rollout.End, path timeline.Path) int {
	width := 0
	counts := map[rollout.State]int{}
	for _, end := range ends {
		width = max(width, len(end.State))
	}
	code := cmdline.ExitOK
	g.session.Note("\n")
	for _, end := range ends {
		u := g.work.Units[end.Unit]
		name := u.Name
		if u.Stack != "" {
			name = u.Stack + ": " + name
		}
		if detail := g.endDetail(end); detail != "" {
			name += "  (" + detail + ")"
		}
		g.session.NoteLine("%s  %s", fmt.Sprintf("%-*s", width, end.State), name)
		counts[end.State]++
		switch {
		case end.Done:
		case end.Held && g.unanswered && code != cmdline.ExitError:
			code = cmdline.ExitApproval
		default:
			code = cmdline.ExitError
		}
	}
	var parts []string
	for _, state := range endStates {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], strings.Replace(string(state), "no changes", "without changes", 1)))
		}
	}
	if len(parts) > 0 {
		g.session.Note("\n%s.%s\n", strings.Join(parts, ", "), g.total(ends))
	}
	if path.WorthSaying() {
		g.session.Note("Critical path: %s.\n", path.Text())
	}
	return code
}

// total adds up how much all plans would change, or those have changed that were applied. It is ""
// if that is not known of one of them.
func (g *gates) total(ends []rollout.End) string {
	title, states := " Resources: ", []rollout.State{rollout.Applied, rollout.Destroyed, rollout.InPart}
	if g.mode == rollout.PlanOnly {
		title, states = " Plan: ", []rollout.State{rollout.Planned}
	}
	total, some := &stackplan.Counts{}, false
	for _, end := range ends {
		if slices.Contains(states, end.State) {
			total, some = rollout.Sum(total, end.Changes), true
		}
	}
	if total == nil || !some {
		return ""
	}
	return title + g.countsText(*total, g.mode != rollout.PlanOnly) + "."
}

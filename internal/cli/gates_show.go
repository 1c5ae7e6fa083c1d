// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

// writeSteps shows what belongs to a change, and in which steps it is done.
func (g *gates) writeSteps() {
	for _, s := range g.change.Stacks {
		note := ""
		switch held := g.heldBy(s.Stack, gated.Apply); {
		case len(held) > 0 && len(g.heldBy(s.Stack, gated.Plan)) == 0:
			note = ", applied after " + strings.Join(held, ", ")
		case len(held) > 0:
			note = ", after " + strings.Join(held, ", ")
		}
		if g.change.AutoApply(s.Stack) {
			note += ", auto_apply"
		}
		g.session.stdout("%s%s\n", g.change.Layout.Stacks[s.Stack].Name, note)
		for _, d := range s.Dirspaces {
			g.session.stdout("  %s: %s\n", g.name(d.Dirspace), d.Reason)
		}
	}
	g.session.stdout("\n")
	for i, step := range g.change.Steps() {
		var names []string
		for _, d := range step.Dirspaces {
			names = append(names, g.name(d))
		}
		g.session.stdout("%d. %s %s\n", i+1, g.actionName(step.Action), strings.Join(names, ", "))
	}
}

func (g *gates) actionName(action gated.Action) string {
	if action == gated.Apply && g.mode.destroy {
		return "destroy"
	}
	return action.String()
}

// heldBy returns the names of the stacks that have to be applied before an action on a stack.
func (g *gates) heldBy(stack int, action gated.Action) []string {
	names := []string{}
	for _, s := range g.change.HeldBy(stack, action, func(int) bool { return false }) {
		names = append(names, g.change.Layout.Stacks[s].Name)
	}
	return names
}

// gateDocument is what -dry-run -json writes.
type gateDocument struct {
	FormatVersion string                  `json:"format_version"`
	Stacks        []gateStack             `json:"stacks"`
	Steps         []gateStep              `json:"steps"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

type gateStack struct {
	Name       string          `json:"name"`
	AutoApply  bool            `json:"auto_apply"`
	PlanAfter  []string        `json:"plan_after"`  // stacks of this change
	ApplyAfter []string        `json:"apply_after"` // the same, and those of plan_after
	Dirspaces  []gateDirectory `json:"directories"`
}

type gateDirectory struct {
	Directory string   `json:"directory"` // from the root of the repository
	Workspace string   `json:"workspace"`
	Tags      []string `json:"tags"`
	Reason    string   `json:"reason"`
}

type gateStep struct {
	Action      string         `json:"action"`
	Stacks      []string       `json:"stacks"`
	Directories []gateDirspace `json:"directories"`
}

type gateDirspace struct {
	Directory string `json:"directory"`
	Workspace string `json:"workspace"`
}

func (g *gates) writeDocument() error {
	document := gateDocument{
		FormatVersion: jsonview.FormatVersion, Stacks: []gateStack{}, Steps: []gateStep{},
		Diagnostics: diagnostic.All(g.diags, g.session.sources()),
	}
	for _, s := range g.change.Stacks {
		stack := gateStack{
			Name: g.change.Layout.Stacks[s.Stack].Name, AutoApply: g.change.AutoApply(s.Stack),
			PlanAfter: g.heldBy(s.Stack, gated.Plan), ApplyAfter: g.heldBy(s.Stack, gated.Apply),
		}
		for _, d := range s.Dirspaces {
			in := g.change.Dirspaces[d.Dirspace]
			stack.Dirspaces = append(stack.Dirspaces, gateDirectory{in.Dir, in.Workspace, g.change.Tags(d.Dirspace), d.Reason})
		}
		document.Stacks = append(document.Stacks, stack)
	}
	for _, step := range g.change.Steps() {
		one := gateStep{Action: g.actionName(step.Action)}
		for _, s := range g.change.StacksOf(step) {
			one.Stacks = append(one.Stacks, g.change.Layout.Stacks[s].Name)
		}
		for _, d := range step.Dirspaces {
			one.Directories = append(one.Directories, gateDirspace{g.change.Dirspaces[d].Dir, g.change.Dirspaces[d].Workspace})
		}
		document.Steps = append(document.Steps, one)
	}
	return jsonview.WriteDocument(g.session.streams.Out, document, true)
}

// gateEnd is how a dirspace ended.
type gateEnd struct {
	word, reason string
	ok           bool // nothing is left to do that was asked for
}

// summarize shows how everything ended and returns the exit code.
func (r *gateRun) summarize(results []gated.Result) int {
	ends := map[int][]gated.Result{}
	for _, result := range results {
		ends[result.Dirspace] = append(ends[result.Dirspace], result)
	}
	width := 0
	var lines [][2]string
	code := exitOK
	r.session.note("\n")
	for _, s := range r.change.Stacks {
		for _, d := range s.Dirspaces {
			pair := ends[d.Dirspace]
			slices.SortFunc(pair, func(a, b gated.Result) int { return int(a.Action) - int(b.Action) })
			end := r.end(pair[0], pair[1])
			if !end.ok {
				code = exitError
			}
			text := fmt.Sprintf("%s: %s", r.change.Layout.Stacks[s.Stack].Name, r.name(d.Dirspace))
			if end.reason != "" {
				text += "  (" + end.reason + ")"
			}
			lines = append(lines, [2]string{end.word, text})
			width = max(width, len(end.word))
		}
	}
	for _, line := range lines {
		r.session.note("%-*s  %s\n", width, line[0], line[1])
	}
	return code
}

// end says how a dirspace ended by the results of planning and applying it.
func (r *gateRun) end(plan, apply gated.Result) gateEnd {
	switch plan.State {
	case order.Succeeded:
	case order.Failed:
		return gateEnd{word: "failed", reason: "plan: " + plan.Err.Error()}
	case order.Skipped:
		return r.held(plan)
	default:
		return gateEnd{word: "not started"}
	}
	switch {
	case !r.outcome[plan.Dirspace].changes:
		return gateEnd{word: "no changes", ok: true}
	case apply.State == order.Succeeded:
		return gateEnd{word: r.mode.done, ok: true}
	case !r.mode.apply:
		return gateEnd{word: "planned", ok: true}
	case apply.State == order.Skipped:
		end := r.held(apply)
		return gateEnd{word: "planned", reason: end.word + " " + end.reason}
	case apply.State == order.Failed && errors.Is(apply.Err, errNotApproved):
		return gateEnd{word: "planned", reason: "not approved"}
	case apply.State == order.Failed:
		return gateEnd{word: "failed", reason: r.mode.name + ": " + apply.Err.Error()}
	}
	return gateEnd{word: "planned", reason: "not applied"}
}

// held says what a dirspace waits for that did not come.
func (r *gateRun) held(result gated.Result) gateEnd {
	name := r.name(result.Because.Dirspace)
	switch {
	case errors.Is(result.BecauseErr, errNotAsked):
		return gateEnd{word: "waiting", reason: "for " + name + " to be applied", ok: true}
	case errors.Is(result.BecauseErr, errNotApproved):
		return gateEnd{word: "waiting", reason: "for " + name + ", which was not approved"}
	}
	return gateEnd{word: "skipped", reason: "because " + name + " failed"}
}

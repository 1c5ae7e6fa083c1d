// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// StatesFile is the file of states that is written.
const StatesFile = "workspace.sls"

// ToStates makes an SLS file of the tasks of a workspace file.
func ToStates(m *cairnfile.Model) (Result, hcl.Diagnostics) {
	graph, diags := m.Graph(false)
	if diags.HasErrors() {
		return Result{}, diags
	}
	c := &toStates{
		writer:     newWriter(),
		model:      m,
		graph:      graph,
		ids:        map[*cairnfile.Leaf]string{},
		reactions:  map[*cairnfile.Leaf]string{},
		kept:       map[*cairnfile.Leaf]bool{},
		requisites: map[*cairnfile.Leaf][]requisite{},
		taken:      names{"include": true, "exclude": true, "extend": true},
	}
	c.choose()
	c.collect()
	var b strings.Builder
	for _, leaf := range c.sequence {
		c.task(&b, leaf)
	}
	if b.Len() == 0 {
		b.WriteString("{}\n")
	}
	c.loseSettings(m)
	c.Files = []File{{StatesFile, []byte(b.String())}}
	return *c.Result, nil
}

type toStates struct {
	*writer
	model      *cairnfile.Model
	graph      *cairnfile.Graph
	sequence   []*cairnfile.Leaf // the tasks that are written
	kept       map[*cairnfile.Leaf]bool
	requisites map[*cairnfile.Leaf][]requisite
	taken      names
	ids        map[*cairnfile.Leaf]string
	reactions  map[*cairnfile.Leaf]string // ids of calls for the reactions of tasks to changes of their watched targets
}

// requisite is one of a task, for one of the others.
type requisite struct {
	kind string
	of   *cairnfile.Leaf
}

// choose finds out which tasks can be written: those of whose conditions something is left.
func (c *toStates) choose() {
	for _, n := range c.graph.Sequence(c.model.Rule(), nil) {
		leaf := c.graph.Steps[n].Leaf
		if leaf.Task == nil {
			c.lose(problem.PlaceOf(leaf.Range), "The stack %s", leaf.Name)
			continue
		}
		c.kept[leaf] = true
		c.sequence = append(c.sequence, leaf)
	}
	for changed := true; changed; {
		changed = false
		for _, leaf := range c.sequence {
			if rule := c.pointless(leaf); c.kept[leaf] && rule != nil {
				c.kept[leaf], changed = false, true
				c.lose(rule.Place, "The task %s, which reacts only to others that are not there", leaf.Name)
			}
		}
	}
	c.sequence = slices.DeleteFunc(c.sequence, func(leaf *cairnfile.Leaf) bool { return !c.kept[leaf] })
	for _, leaf := range c.sequence {
		c.ids[leaf] = c.id(leaf.Name, problem.PlaceOf(leaf.Range))
	}
	for _, leaf := range c.sequence {
		if leaf.Task.Reaction != nil && slices.ContainsFunc(rulesOn(c.model, leaf), func(r cairnfile.ResolvedRule) bool {
			return r.Rel == cairnfile.Watch && len(c.others(leaf, r)) > 0
		}) {
			c.reactions[leaf] = c.taken.add(c.ids[leaf] + "-on-change")
		}
	}
}

// id returns a name that is not reserved.
func (c *toStates) id(name string, at order.Place) string {
	wish := name
	if strings.HasPrefix(name, "__") {
		wish = "task" + name
	}
	id := c.taken.add(wish)
	if id != name {
		c.lose(at, "The name of the task %q, which is called %q", name, id)
	}
	return id
}

// others are the tasks that a rule of a task names and that are kept.
func (c *toStates) others(leaf *cairnfile.Leaf, rule cairnfile.ResolvedRule) []*cairnfile.Leaf {
	return slices.DeleteFunc(taskLeaves(c.model, rule.Targets), func(other *cairnfile.Leaf) bool { return other == leaf || !c.kept[other] })
}

// pointless returns a rule that says whether a task runs at all, if of all rules of its kind
// nothing is left; nil if there is none.
func (c *toStates) pointless(leaf *cairnfile.Leaf) *cairnfile.ResolvedRule {
	rules := slices.DeleteFunc(rulesOn(c.model, leaf), func(rule cairnfile.ResolvedRule) bool { return !rule.Rel.IsReaction() })
	for _, rule := range rules {
		left := slices.ContainsFunc(rules, func(other cairnfile.ResolvedRule) bool {
			return other.Rel == rule.Rel && other.Policy == rule.Policy && len(c.others(leaf, other)) > 0
		})
		if !left {
			return &rule
		}
	}
	return nil
}

// kindOf is the name of a relation there.
func kindOf(rel cairnfile.Relation, policy cairnfile.Policy) string {
	kind := map[cairnfile.Relation]string{
		cairnfile.Watch: "watch", cairnfile.OnChanges: "onchanges", cairnfile.OnFail: "onfail", cairnfile.Listen: "listen",
	}[rel]
	if kind == "" {
		kind = "require"
	}
	switch {
	case policy == cairnfile.Any && rel != cairnfile.Listen && rel != cairnfile.OnFail:
		kind += "_any"
	case policy == cairnfile.All:
		kind += "_all"
	}
	return kind
}

// collect finds the requisites of tasks.
func (c *toStates) collect() {
	for _, leaf := range c.sequence {
		for _, rule := range rulesOn(c.model, leaf) {
			others := c.others(leaf, rule)
			if lost := c.lostTargets(leaf, rule); lost != "" && rule.Rel != cairnfile.ModifiedBy && rule.Rel != cairnfile.ModifiedByOutputs {
				c.lose(rule.Place, "That %s has to do with %s", leaf.Name, lost)
			}
			switch rule.Rel {
			case cairnfile.ModifiedBy, cairnfile.ModifiedByOutputs:
				continue
			case cairnfile.Prereq: // a task always would change something, so that it is one that the others require
				for _, other := range others {
					c.add(other, requisite{"require", leaf})
				}
				continue
			}
			for _, other := range others {
				c.add(leaf, requisite{kindOf(rule.Rel, rule.Policy), other})
			}
		}
	}
	// The remaining order: stages, gates of groups, and order by way of stacks.
	for _, edge := range c.graph.Reduced(c.selection(), true) {
		before, after := c.graph.Steps[edge.From].Leaf, c.graph.Steps[edge.To].Leaf
		if !edge.Soft && !slices.ContainsFunc(c.requisites[after], func(r requisite) bool { return r.of == before }) {
			c.add(after, requisite{"require", before})
		}
	}
}

// lostTargets lists the targets of a rule that are not there.
func (c *toStates) lostTargets(leaf *cairnfile.Leaf, rule cairnfile.ResolvedRule) string {
	var lost []string
	for _, target := range rule.Targets {
		for _, other := range c.model.LeavesOf(target) {
			if other != leaf && !c.kept[other] {
				lost = append(lost, other.Name)
			}
		}
	}
	return strings.Join(unique(lost), ", ")
}

func (c *toStates) add(leaf *cairnfile.Leaf, r requisite) {
	if !slices.Contains(c.requisites[leaf], r) {
		c.requisites[leaf] = append(c.requisites[leaf], r)
	}
}

func (c *toStates) selection() order.Selection {
	selected := make(order.Selection, c.graph.Len())
	for n, step := range c.graph.Steps {
		selected[n] = step.Leaf != nil && c.kept[step.Leaf]
	}
	return selected
}

// kinds of requisites in the order in which they are written.
var kindsInOrder = []string{"require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any", "onfail", "onfail_all", "listen"}

func (c *toStates) task(b *strings.Builder, leaf *cairnfile.Leaf) {
	function := "cmd.run"
	if slices.ContainsFunc(c.requisites[leaf], func(r requisite) bool { return r.kind == "listen" }) {
		function = "cmd.wait" // which does nothing before the end
	}
	comment(b, "", leaf.Description)
	c.call(b, c.ids[leaf], function, leaf, leaf.Task.Command)
	if leaf.Task.Retries > 0 {
		fmt.Fprintf(b, "    - retry: {attempts: %d, interval: %s}\n", leaf.Task.Retries+1, seconds(leaf.Task.Interval))
	}
	for _, kind := range kindsInOrder {
		var ids []string
		for _, r := range c.requisites[leaf] {
			if r.kind != kind {
				continue
			}
			ids = append(ids, c.idsFor(kind, r.of)...)
		}
		requisites(b, kind, ids)
	}
	c.reaction(b, leaf)
	c.loseOfTask(leaf, problem.PlaceOf(leaf.Range), []part{{len(leaf.AllTags) > automaticTags(leaf), "tags"}})
}

// idsFor returns the calls that make up a task for a kind of requisites: the one after it fails,
// too, if the task itself does.
func (c *toStates) idsFor(kind string, leaf *cairnfile.Leaf) []string {
	id, reaction := c.ids[leaf], c.reactions[leaf]
	if reaction == "" {
		return []string{id}
	}
	switch kind {
	case "require", "watch", "onfail":
		return []string{id, reaction}
	case "require_any", "watch_any":
		return []string{reaction}
	}
	return []string{id}
}

// reaction writes a call that does nothing unless something has changed that the task watches.
func (c *toStates) reaction(b *strings.Builder, leaf *cairnfile.Leaf) {
	id := c.reactions[leaf]
	if id == "" {
		if leaf.Task.Reaction != nil {
			c.lose(problem.PlaceOf(leaf.Range), "The on_change of %s, which watches nothing that is there", leaf.Name)
		}
		return
	}
	c.call(b, id, "cmd.wait", leaf, leaf.Task.Reaction)
	requisites(b, "require", []string{c.ids[leaf]})
	for _, kind := range []string{"watch", "watch_any"} {
		var ids []string
		for _, r := range c.requisites[leaf] {
			if r.kind == kind {
				ids = append(ids, c.ids[r.of])
			}
		}
		requisites(b, kind, ids)
	}
}

// call writes a call with everything but its requisites.
func (c *toStates) call(b *strings.Builder, id, function string, leaf *cairnfile.Leaf, command []string) {
	line := shellLine(command)
	if leaf.Task.Dir != "." {
		line = "cd -- " + shellWord(leaf.Task.Dir) + " || exit 1\n" + line
	}
	fmt.Fprintf(b, "%s:\n  %s:\n    - name: %s\n", quote(id), function, quote(line))
	if len(leaf.Environment) > 0 {
		b.WriteString("    - env:\n")
		for _, name := range slices.Sorted(maps.Keys(leaf.Environment)) {
			fmt.Fprintf(b, "      - %s: %s\n", quote(name), quote(leaf.Environment[name]))
		}
	}
	if leaf.Task.Timeout > 0 {
		fmt.Fprintf(b, "    - timeout: %s\n", seconds(leaf.Task.Timeout))
	}
}

// requisites writes those of a kind, by ids, which no command can be mistaken for.
func requisites(b *strings.Builder, kind string, ids []string) {
	if ids = unique(ids); len(ids) == 0 {
		return
	}
	fmt.Fprintf(b, "    - %s:\n", kind)
	for _, id := range ids {
		fmt.Fprintf(b, "      - id: %s\n", quote(id))
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

// Gated makes a workspace file of gated stacks: each of them is a group, and each directory with its workspace a stack.
func Gated(layout *gated.Layout) Result {
	var r Result
	file := hclwrite.NewEmptyFile()
	taken := names{}
	groups := make([]string, len(layout.Stacks))
	for i, s := range layout.Stacks {
		groups[i] = taken.add(s.Name)
	}
	dirspaces := make([]string, len(layout.Dirspaces))
	for i, d := range layout.Dirspaces {
		dirspaces[i] = taken.add(d.Name())
	}
	byName := map[string]string{}
	for i, s := range layout.Stacks {
		byName[s.Name] = groups[i]
	}
	for i, s := range layout.Stacks {
		var at order.Place
		if s.Range != nil {
			at = order.Place{File: s.Range.Filename, Line: s.Range.Start.Line, Column: s.Range.Start.Column}
		}
		b := newBlock(file, "group", groups[i])
		var members []string
		if s.Nested {
			members = renamed(s.Members, byName)
		} else {
			for _, d := range layout.Owned(i) {
				members = append(members, dirspaces[d])
			}
			r.lose(at, "The stack %s takes in what matches %q later, and the group has the members of today", s.Name, s.Query)
		}
		b.emptyList("members", members)
		b.texts("variables", s.Variables)
		b.list("modified_by", renamed(s.Rules.ModifiedBy, byName))
		if !s.Rules.ImpliedPlanAfter && len(s.Rules.PlanAfter)+len(s.Rules.ModifiedBy) > 0 { // also an empty list says something (B-11)
			b.emptyList("plan_after", renamed(s.Rules.PlanAfter, byName))
		}
		b.list("apply_after", renamed(s.Rules.ApplyAfter, byName))
		if s.Rules.AutoApply != nil {
			b.body.SetAttributeValue("auto_apply", cty.BoolVal(*s.Rules.AutoApply))
		}
	}
	for i, d := range layout.Dirspaces {
		b := newBlock(file, "stack", dirspaces[i])
		b.text("path", d.Dir)
		b.list("tags", d.Tags)
		if d.Workspace != gated.DefaultWorkspace {
			r.lose(order.Place{}, "%s has the workspace %s, which a workspace file does not choose", d.Name(), d.Workspace)
		}
		if d.DependsOn != nil {
			var on []string
			for other := range layout.Dirspaces {
				if other != i && layout.Matches(d.DependsOn.Query, other) {
					on = append(on, dirspaces[other])
				}
			}
			b.list("modified_by", on)
			if d.DependsOn.PruneOnNoChange {
				r.lose(order.Place{}, "%s has prune_on_no_change, and in a workspace file what depends on something is modified with it", d.Name())
			}
		}
	}
	r.Text = hclwrite.Format(file.Bytes())
	return r
}

func renamed(refs []gated.Ref, byName map[string]string) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, byName[ref.Name])
	}
	return list
}

// ToGated makes a .terrateam/config.yml of a workspace: groups become nested stacks.
func ToGated(m *workspace.Model) Result {
	var r Result
	var b strings.Builder
	b.WriteString("stacks:\n  names:\n")
	perDir := map[string]string{}
	tags := map[string][]string{}
	for _, block := range m.Blocks {
		at := order.Place{File: block.Range.Filename, Line: block.Range.Start.Line, Column: block.Range.Start.Column}
		if block.Type == workspace.TaskType {
			r.lose(at, "The task %s, for which there is no form", block.Name)
			continue
		}
		var variables map[string]string
		fmt.Fprintf(&b, "    %s:\n", quote(block.Name))
		if block.Stack != nil {
			variables = block.Stack.Variables
			dir := path.Clean(block.Stack.Dir)
			if other, again := perDir[dir]; again {
				r.lose(at, "The stack %s has the directory of %s, and a directory belongs to one stack: remove one of the two", block.Name, other)
			}
			perDir[dir] = block.Name
			tags[dir] = block.Tags
			fmt.Fprintf(&b, "      tag_query: %s\n", quote("dir:"+dir))
			r.loseOfStack(block, at)
		} else {
			variables = block.Group.Variables
			var members []string
			for _, member := range m.Members(block) {
				if member.Type != workspace.TaskType {
					members = append(members, member.Name)
				}
			}
			fmt.Fprintf(&b, "      stacks: %s\n", list(members))
			if block.Group.Parallel > 0 {
				r.lose(at, "The strategy of the group %s", block.Name)
			}
		}
		if len(variables) > 0 {
			b.WriteString("      variables:\n")
			for _, name := range slices.Sorted(maps.Keys(variables)) {
				fmt.Fprintf(&b, "        %s: %s\n", quote(name), quote(variables[name]))
			}
		}
		b.WriteString(r.rules(m, block))
		if block.Weight != nil || len(block.Keys) > 0 {
			r.lose(at, "The order or the keys of %s, for which there is no form", block.Name)
		}
	}
	b.WriteString("dirs:\n")
	for _, dir := range slices.Sorted(maps.Keys(perDir)) {
		fmt.Fprintf(&b, "  %s:\n    tags: %s\n", quote(dir), list(tags[dir]))
	}
	r.Text = []byte(b.String())
	return r
}

func (r *Result) loseOfStack(block *workspace.Block, at order.Place) {
	if block.Stack.Deployment != "" || len(block.Stack.VarFiles) > 0 || len(block.Stack.Watch) > 0 {
		r.lose(at, "The deployment, var_files or watch of the stack %s, for which there is no form", block.Name)
	}
}

// rules writes the rules of a block, gates as they are and others as gates where that is the same.
func (r *Result) rules(m *workspace.Model, block *workspace.Block) string {
	rules := map[string][]string{}
	for _, rule := range m.Rules(block) {
		key := map[workspace.Relation]string{
			workspace.After: "plan_after", workspace.PlanAfter: "plan_after", workspace.ApplyAfter: "apply_after", workspace.ModifiedBy: "modified_by",
		}[rule.Rel]
		if rule.Policy == workspace.Any {
			r.lose(rule.Place, "That one success is enough for %s: all are waited for", block.Name)
		}
		if rules[key] == nil {
			rules[key] = []string{}
		}
		for _, target := range rule.Targets {
			switch {
			case target.Type == workspace.TaskType:
				r.lose(rule.Place, "That %s waits for the task %s", block.Name, target.Name)
			case !slices.Contains(rules[key], target.Name):
				rules[key] = append(rules[key], target.Name)
			}
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&b, "        %s: %s\n", key, list(rules[key]))
	}
	if block.AutoApply != nil {
		fmt.Fprintf(&b, "        auto_apply: %t\n", *block.AutoApply)
	}
	if b.Len() == 0 {
		return ""
	}
	return "      rules:\n" + b.String()
}

// quote writes a string as JSON does, which YAML reads.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("convert: " + err.Error()) // strings can be written
	}
	return string(quoted)
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

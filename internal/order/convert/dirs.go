// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

var stackTag = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_./-]*[A-Za-z0-9])?$`)

// ToTree makes a file stack.tm.hcl for the directory of each stack. The text is all of them, each after a line "-- PATH --".
func ToTree(m *workspace.Model) Result {
	var r Result
	var b bytes.Buffer
	perDir := map[string]string{}
	for _, leaf := range m.Leaves {
		at := order.Place{File: leaf.Range.Filename, Line: leaf.Range.Start.Line, Column: leaf.Range.Start.Column}
		if leaf.Task != nil {
			r.lose(at, "The task %s, for which there is no form", leaf.Name)
			continue
		}
		dir := path.Clean(leaf.Stack.Dir)
		if other, again := perDir[dir]; again {
			r.lose(at, "The stack %s, which has the directory of %s", leaf.Name, other)
			continue
		}
		perDir[dir] = leaf.Name
		file := hclwrite.NewEmptyFile()
		stack := block{file.Body().AppendNewBlock("stack", nil).Body()}
		stack.text("name", leaf.Name)
		stack.text("description", leaf.Description)
		stack.list("tags", r.tags(leaf, at))
		stack.list("after", r.after(m, leaf))
		var watch []string
		for _, file := range slices.Concat(leaf.Stack.Watch, leaf.Stack.VarFiles) {
			watch = append(watch, "/"+file)
		}
		stack.list("watch", watch)
		if leaf.Stack.Deployment != "" || len(leaf.Variables) > 0 || leaf.Weight != 0 || len(leaf.AllKeys) > 0 || leaf.AutoApply {
			r.lose(at, "The deployment, variables, order, keys or auto_apply of %s, for which there is no form", leaf.Name)
		}
		fmt.Fprintf(&b, "-- %s --\n%s", path.Join(dir, "stack.tm.hcl"), hclwrite.Format(file.Bytes()))
	}
	r.Text = b.Bytes()
	return r
}

func (r *Result) tags(leaf *workspace.Leaf, at order.Place) []string {
	tags := slices.Clone(leaf.Tags)
	for _, group := range leaf.Groups {
		tags = append(tags, group.Tags...)
	}
	slices.Sort(tags)
	return slices.DeleteFunc(slices.Compact(tags), func(tag string) bool {
		if stackTag.MatchString(tag) {
			return false
		}
		r.lose(at, "The tag %q of %s, which is none there", tag, leaf.Name)
		return true
	})
}

// after returns the directories of the stacks before a leaf, by its rules and those of its groups.
func (r *Result) after(m *workspace.Model, leaf *workspace.Leaf) []string {
	var dirs []string
	for _, of := range append([]*workspace.Block{leaf.Block}, leaf.Groups...) {
		says := slices.ContainsFunc(of.Rules, func(rule workspace.Rule) bool { return rule.Rel == workspace.PlanAfter })
		for _, rule := range m.Rules(of) {
			switch rule.Rel {
			case workspace.ModifiedBy:
				r.lose(rule.Place, "That %s is modified with others", leaf.Name)
				if says {
					continue
				}
			case workspace.PlanAfter, workspace.ApplyAfter:
				r.lose(rule.Place, "That only a phase of %s waits: all of it does", leaf.Name)
			}
			if rule.Policy == workspace.Any {
				r.lose(rule.Place, "That one success is enough for %s: all are waited for", leaf.Name)
			}
			for _, target := range rule.Targets {
				for _, other := range m.LeavesOf(target) {
					if other.Stack != nil && other != leaf {
						dirs = append(dirs, path.Join("/", other.Stack.Dir))
					}
				}
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

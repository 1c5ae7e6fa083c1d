// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// inputs are the differences from an earlier model in the inputs of stacks.
type inputs struct {
	changed map[*Leaf]Cause // stacks that are new, or run with something else
	gone    []gone          // stacks that there are no more, as they were written
}

// gone is a stack of an earlier model.
type gone struct {
	leaf      *Leaf
	renamedTo *Leaf // nil if it is not there under another name either
}

// compare finds the stacks that are new since an earlier model, and those whose inputs have
// changed: directory, deployment, workspace, variables, var_files or environment, their own or from
// groups. An attribute that only affects order changes no stack. Causes name variables, never their
// values.
func (m *Model) compare(before *Model) inputs {
	earlier := map[string]*Leaf{} // those that have no counterpart of their name
	for _, leaf := range before.Leaves {
		if leaf.Stack != nil {
			earlier[leaf.Name] = leaf
		}
	}
	var unmatched []*Leaf
	found := inputs{changed: map[*Leaf]Cause{}}
	compare := func(was, is *Leaf) {
		if text := inputChanges(was, is) + m.mappingChanges(before, is); text != "" {
			text = strings.TrimPrefix(text, ", ")
			found.changed[is] = Cause{Text: fmt.Sprintf("%s of %s changed in %s", text, is.Name, FileName)}
		}
	}
	for _, leaf := range m.Leaves {
		if was := earlier[leaf.Name]; leaf.Stack != nil && was != nil {
			compare(was, leaf)
			delete(earlier, leaf.Name)
		} else if leaf.Stack != nil {
			unmatched = append(unmatched, leaf)
		}
	}
	left := map[stateID][]*Leaf{} // of earlier ones, by name
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		was := earlier[name]
		left[was.Stack.stateID()] = append(left[was.Stack.stateID()], was)
	}
	renamed := map[*Leaf]*Leaf{}
	for _, leaf := range unmatched {
		same := left[leaf.Stack.stateID()]
		if len(same) == 0 {
			found.changed[leaf] = Cause{Text: fmt.Sprintf("%s is new in %s", leaf.Name, FileName)}
			continue
		}
		left[leaf.Stack.stateID()] = same[1:]
		renamed[same[0]] = leaf
		compare(same[0], leaf)
	}
	for _, name := range slices.Sorted(maps.Keys(earlier)) {
		found.gone = append(found.gone, gone{earlier[name], renamed[earlier[name]]})
	}
	return found
}

// stateID says where the state of a stack is.
type stateID struct{ dir, deployment, workspace string }

func (s *Stack) stateID() stateID { return stateID{s.Dir, s.Deployment, s.Workspace} }

// inputChanges lists the changed inputs of a stack.
func inputChanges(was, is *Leaf) string {
	var changed []string
	add := func(differs bool, what string) {
		if differs {
			changed = append(changed, what)
		}
	}
	add(was.Stack.Dir != is.Stack.Dir, "path")
	add(was.Stack.Deployment != is.Stack.Deployment, "deployment")
	add(was.Stack.Workspace != is.Stack.Workspace, "workspace")
	add(!slices.Equal(was.Stack.VarFiles, is.Stack.VarFiles), "var_files")
	for _, name := range differences(was.Stack.inputTexts(), is.Stack.inputTexts()) {
		add(true, "input "+name)
	}
	for _, name := range differences(was.Variables, is.Variables) {
		add(true, "variable "+name)
	}
	for _, name := range differences(was.Environment, is.Environment) {
		add(true, "environment "+name)
	}
	return strings.Join(changed, ", ")
}

// mappingChanges lists, each after a comma, the stacks whose published outputs a stack has, and
// that are said to be kept elsewhere than they were.
func (m *Model) mappingChanges(before *Model, is *Leaf) string {
	var changed []string
	for _, link := range is.Stack.Links {
		if text := ", upstream " + link.Source; !m.Upstreams[link.Source].Same(before.Upstreams[link.Source]) && !slices.Contains(changed, text) {
			changed = append(changed, text)
		}
	}
	return strings.Join(changed, "")
}

// differences returns the sorted names whose values are not the same.
func differences(was, is map[string]string) []string {
	var names []string
	for name, value := range is {
		if before, ok := was[name]; !ok || before != value {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

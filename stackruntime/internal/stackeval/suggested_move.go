// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

// Moved blocks for what the state has and the configuration does not, to be pasted. The new address is that of the only
// block or instance that has nothing in the state yet; where there is none, or a choice, the user has to fill it in.
const (
	newName = "NEW_NAME"
	newKey  = "NEW_KEY"
)

// suggestComponentMove is what to do if a component instance that is left over has another address now.
func (m *Main) suggestComponentMove(ctx context.Context, addr stackaddrs.AbsComponentInstance) string {
	stack := m.stackInstance(ctx, addr.Stack)
	if stack == nil {
		return ""
	}
	s := moveSuggestion{stack: addr.Stack, kind: stackaddrs.MoveableComponent, name: addr.Item.Component.Name, key: addr.Item.Key}
	blocks := make(map[string]blockInstances, len(stack.components))
	for name, component := range stack.components {
		blocks[name] = instancesOf(component.Instances(ctx), component.existingKeys())
	}
	return s.text(blocks)
}

// suggestStackMove is what to do if a stack instance that is left over has another address now.
func (m *Main) suggestStackMove(ctx context.Context, addr stackaddrs.StackInstance) string {
	caller, step, _ := addr.Parent()
	stack := m.stackInstance(ctx, caller)
	if stack == nil {
		return ""
	}
	s := moveSuggestion{stack: caller, kind: stackaddrs.MoveableStack, name: step.Call.Name, key: step.Key}
	blocks := make(map[string]blockInstances, len(stack.calls))
	for name, call := range stack.calls {
		blocks[name] = instancesOf(call.Instances(ctx), call.existingKeys())
	}
	return s.text(blocks)
}

// blockInstances are the instances of a block, as far as a new address among them is looked for.
type blockInstances struct {
	hasForEach bool
	isNew      bool                     // nothing of the block is in the state
	free       []stackaddrs.InstanceKey // of instances that are not in the state
}

func instancesOf[I any](instances foreach.Expansion[I], existing []stackaddrs.InstanceKey) blockInstances {
	found := blockInstances{hasForEach: instances.Kind != foreach.Single, isNew: len(existing) == 0}
	known := make(map[stackaddrs.InstanceKey]bool, len(existing))
	for _, key := range existing {
		known[key] = true
	}
	if instances.Known() {
		for key := range instances.InOrder() {
			if !known[key] {
				found.free = append(found.free, key)
			}
		}
	}
	return found
}

// moveSuggestion is something that is left over.
type moveSuggestion struct {
	stack stackaddrs.StackInstance // with the block that is to be added
	kind  stackaddrs.MoveableKind
	name  string
	key   stackaddrs.InstanceKey
}

// text writes a block to paste, among the blocks that there are in the stack by their names.
func (s moveSuggestion) text(blocks map[string]blockInstances) string {
	from, to := s.kind.String()+"."+s.name, s.kind.String()+"."+newName
	block, declared := blocks[s.name]
	target := s.name
	if !declared {
		target = ""
		for name, candidate := range blocks {
			if candidate.isNew {
				if target != "" {
					target = ""
					break // a choice
				}
				target, block = name, candidate
			}
		}
	}
	if target != "" {
		to = s.kind.String() + "." + target
		switch {
		case !block.hasForEach && s.key != stackaddrs.NoKey:
			from += s.key.String()
		case !block.hasForEach:
		case !declared && s.key != stackaddrs.NoKey: // all instances keep their keys
		default:
			from += s.key.String()
			key := stackaddrs.StringKey(newKey)
			if len(block.free) == 1 {
				key = block.free[0]
			}
			to += key.String()
		}
	}
	place := ""
	if !s.stack.IsRoot() {
		place = " in the files of " + s.stack.Config().String()
	}
	lines := []string{"", "", "  moved {", "    from = " + from, "    to   = " + to, "  }", "", ""}
	return fmt.Sprintf("If it has another address now, this block%s says so:%s", place, strings.Join(lines, "\n"))
}

// mostEnumerated is how many addresses a message has at most.
const mostEnumerated = 5

// enumerate writes a list of addresses, of which there is at least one.
func enumerate[A fmt.Stringer](addrs []A) string {
	texts := make([]string, 0, mostEnumerated)
	for _, addr := range addrs[:min(len(addrs), mostEnumerated)] {
		texts = append(texts, addr.String())
	}
	if more := len(addrs) - len(texts); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts, ", "), more)
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return texts[0]
}

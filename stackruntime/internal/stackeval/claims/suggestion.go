// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

// Placeholders that the user has to fill in.
const (
	newName = "NEW_NAME"
	newKey  = "NEW_KEY"
)

// Block is a block that may produce an instance under a new address.
type Block struct {
	hasForEach bool
	isNew      bool                     // nothing of the block is in the state
	free       []stackaddrs.InstanceKey // of instances that are not in the state
}

// BlockOf returns the block with these instances, of which some exist.
func BlockOf[I any](instances foreach.Expansion[I], existing []stackaddrs.InstanceKey) Block {
	found := Block{hasForEach: instances.Kind != foreach.Single, isNew: len(existing) == 0}
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

// Move is an instance that no block claims, and which may have another address now.
type Move struct {
	Stack stackaddrs.StackInstance // with the moved block that is to be added
	Kind  stackaddrs.MoveableKind
	Name  string
	Key   stackaddrs.InstanceKey
}

// Suggest says how to write the move as a moved block, to be pasted. The new address is that of the
// only one among the stack's blocks, by their names, or of the only instance of one, that has
// nothing in the state yet; where there is none, or a choice, the user has to fill it in.
func (m Move) Suggest(blocks map[string]Block) string {
	from, to := m.Kind.String()+"."+m.Name, m.Kind.String()+"."+newName
	block, declared := blocks[m.Name]
	target := m.Name
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
		to = m.Kind.String() + "." + target
		switch {
		case !block.hasForEach && m.Key != stackaddrs.NoKey:
			from += m.Key.String()
		case !block.hasForEach:
		case !declared && m.Key != stackaddrs.NoKey: // all instances keep their keys
		default:
			from += m.Key.String()
			key := stackaddrs.StringKey(newKey)
			if len(block.free) == 1 {
				key = block.free[0]
			}
			to += key.String()
		}
	}
	place := ""
	if !m.Stack.IsRoot() {
		place = " in the files of " + m.Stack.Config().String()
	}
	lines := []string{"", "", "  moved {", "    from = " + from, "    to   = " + to, "  }", "", ""}
	return fmt.Sprintf("If it has another address now, this block%s says so:%s", place, strings.Join(lines, "\n"))
}

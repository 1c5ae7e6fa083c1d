// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schema is an editor's knowledge of the blocks and arguments of component files, and of
// workspace files: names, order, documentation.
//
// The packages that decode these files decide which arguments exist and which are required. Tests
// compare the tables with them.
package schema

import "slices"

// Scope is the set of names that an expression can refer to.
type Scope int

// Parts of scopes.
const (
	Values     Scope = 1 << iota // variables, local values, functions
	Components                   // components and embedded stacks
	Providers                    // provider configurations
	Each                         // each.key and each.value, with for_each
	Own                          // the variable around, and functions
	Path                         // a path of components and stacks, which is not evaluated
	Types                        // a type
	Source                       // the address of a module or stack
	Bool                         // true or false
	Names                        // names of other blocks of a workspace, in a list
	Directory                    // a directory
)

// Block is a type of blocks.
type Block struct {
	Type      string
	Labels    []string
	Doc       string
	Arguments []Argument
	Blocks    []Block
	Once      bool // at most one in the block around
}

// Argument is an argument of a block.
type Argument struct {
	Name     string
	Doc      string
	Type     string // the type of its values, for people
	Required bool
	Scope    Scope
	Map      bool     // written in braces
	Words    []string // the values that there are
}

// Find returns a type of blocks, nil if there is none of the name.
func Find(blocks []Block, name string) *Block {
	if i := slices.IndexFunc(blocks, func(block Block) bool { return block.Type == name }); i >= 0 {
		return &blocks[i]
	}
	return nil
}

// At returns the innermost of some nested types of blocks; nil if one is unknown.
func At(top []Block, types ...string) *Block {
	var block *Block
	for _, name := range types {
		if block = Find(top, name); block == nil {
			return nil
		}
		top = block.Blocks
	}
	return block
}

// Argument returns an argument of a block, nil if it has none of the name. b may be nil.
func (b *Block) Argument(name string) *Argument {
	if b == nil {
		return nil
	}
	if i := slices.IndexFunc(b.Arguments, func(argument Argument) bool { return argument.Name == name }); i >= 0 {
		return &b.Arguments[i]
	}
	return nil
}

// TypeNames are the names of types of blocks.
func TypeNames(blocks []Block) []string {
	names := make([]string, len(blocks))
	for i, block := range blocks {
		names[i] = block.Type
	}
	return names
}

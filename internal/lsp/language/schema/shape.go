// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import "github.com/cairnstacks/cairn/internal/lsp/language/syntax"

// Shape returns how a body with some blocks is written in JSON.
func Shape(blocks []Block) syntax.Shape { return shapeOf(Block{Blocks: blocks}) }

func shapeOf(block Block) syntax.Shape {
	shape := syntax.Shape{Labels: len(block.Labels), Blocks: map[string]syntax.Shape{}}
	for _, nested := range block.Blocks {
		shape.Blocks[nested.Type] = shapeOf(nested)
	}
	for _, argument := range block.Arguments {
		if argument.Scope&(Path|Types) != 0 {
			shape.Static = append(shape.Static, argument.Name)
		}
	}
	return shape
}

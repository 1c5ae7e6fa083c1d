// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import "github.com/cairnstacks/cairn/internal/lsp/language/syntax"

// SignatureHelp is the function whose arguments are being written.
type SignatureHelp struct {
	Signature
	Active int // which parameter
}

// SignatureAt returns the function in whose arguments an offset is, nil if there is none that is
// known.
func (s *Stack) SignatureAt(path string, offset int) *SignatureHelp {
	f := s.file(path)
	if f == nil || f.isWorkspace() {
		return nil
	}
	argument := argumentAt(f.tree, offset)
	if argument == nil || argument.Value.InText(offset) {
		return nil
	}
	for _, group := range argument.Value.GroupsAt(offset) {
		if group.Kind != syntax.CallGroup {
			continue
		}
		signature, ok := s.signature(f.dir, group.Call.Name)
		if !ok {
			return nil
		}
		active := group.ArgumentAt(offset)
		if signature.Variadic {
			active = min(active, len(signature.Parameters)-1)
		}
		return &SignatureHelp{signature, active}
	}
	return nil
}

// argumentAt returns the argument in whose value an offset is, nil if there is none.
func argumentAt(tree *syntax.File, offset int) *syntax.Argument {
	body := tree.Root
	if blocks := tree.BlocksAt(offset); len(blocks) > 0 {
		body = blocks[len(blocks)-1].Body
	}
	return body.ArgumentAt(offset)
}

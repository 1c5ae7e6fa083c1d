// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerscmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// showTree runs the command without one of those below it.
func showTree(ctx context.Context, s *session.Session, _ []string) (int, error) {
	s.ChangesNothing = true
	ctx, stop := s.Interruptible(ctx, session.LooksOnly)
	defer stop()
	tree, diags := s.Stack().Providers().Tree(ctx)
	if !diags.HasErrors() {
		var b strings.Builder
		b.WriteString(".\n")
		writeBelow(&b, "", tree)
		s.Print("%s", b.String())
	}
	return s.Finish(diags)
}

// writeBelow writes the tree below a node, its providers first, each line after a prefix.
func writeBelow(b *strings.Builder, prefix string, node *requirements.Tree) {
	providers := slices.SortedFunc(maps.Keys(node.Required), func(a, b stackaddrs.Provider) int { return cmp.Compare(a.String(), b.String()) })
	left := len(providers) + len(node.Children)
	branch := func() (head, rest string) {
		if left--; left == 0 {
			return prefix + "└── ", prefix + "    "
		}
		return prefix + "├── ", prefix + "│   "
	}
	for _, provider := range providers {
		head, _ := branch()
		text := strings.TrimSpace(fmt.Sprintf("provider[%s] %s", provider, strings.Join(node.Required[provider], ", ")))
		fmt.Fprintf(b, "%s%s\n", head, text)
	}
	for _, child := range node.Children {
		head, rest := branch()
		fmt.Fprintf(b, "%s%s\n", head, child.Name)
		writeBelow(b, rest, child)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package removal writes removed blocks for leftovers of a stack: the errors of a plan show them,
// and editors insert them.
package removal

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// unknownSource stands for a source that is not known. There is no such directory, which is
// reported where it is not filled in.
const unknownSource = `"./SOURCE-IT-HAD"`

// LeftOver is the target of a removed block.
type LeftOver struct {
	Kind stackaddrs.MoveableKind
	Name string
	Key  stackaddrs.InstanceKey
	More []stackaddrs.InstanceKey // of other instances that the same block is to remove

	All       bool // all existing instances, in place of those with the keys
	Elsewhere bool // another instance of the stack with the block may still have the instance

	Was *Block // that has produced it; nil if it is not written any more
}

// Block has the texts of the expressions of a component or stack block, "" for those that are
// missing.
type Block struct {
	Source, Version, ForEach, Providers, Inputs string

	OfSet bool // each.value is each.key
}

// Text returns the block, and reports whether it is complete: parts that are not known any more are
// in capitals. Keys are literals, except where others may have the instance.
func (l LeftOver) Text() (text string, complete bool) {
	w := &writer{LeftOver: l, complete: l.Was != nil}
	arguments := w.arguments()
	address := l.Kind.String() + "." + l.Name
	each := func(forEach string) []string {
		return []string{"for_each = " + forEach, "from = " + address + "[each.key]"}
	}
	var lines []string
	switch {
	case l.All && w.usesEach:
		lines = each(l.Was.ForEach)
	case l.All:
		lines = []string{"from = " + address}
	case w.usesValue:
		w.complete = false
		lines = each("{ " + literalKey(l.Key) + " = \"VALUE_IT_HAD\" }")
	case len(l.More) > 0:
		keys := []string{literalKey(l.Key)}
		for _, key := range l.More {
			keys = append(keys, literalKey(key))
		}
		lines = each("toset([" + strings.Join(keys, ", ") + "])")
	case l.Elsewhere && l.Was != nil && l.Was.ForEach != "" && l.Key != stackaddrs.NoKey:
		lines = each("setsubtract([" + literalKey(l.Key) + "], keys({ for key, value in " + l.Was.ForEach + " : key => value }))")
	default:
		lines = []string{"from = " + address + l.Key.String()}
	}
	written := "removed {\n" + strings.Join(append(lines, arguments...), "\n") + "\n}\n"
	formatted, _, diags := safehcl.Format([]byte(written), "")
	if diags.HasErrors() {
		return written, false
	}
	return strings.TrimLeft(string(formatted), "\n"), w.complete
}

type writer struct {
	LeftOver
	complete  bool
	usesEach  bool // there is each.key or each.value in the arguments as they were
	usesValue bool // there is each.value, which nobody knows any more
}

func literalKey(key stackaddrs.InstanceKey) string {
	return strings.TrimSuffix(strings.TrimPrefix(key.String(), "["), "]")
}

func (w *writer) arguments() []string {
	if w.Was == nil {
		lines := []string{"source = " + unknownSource}
		if w.Kind == stackaddrs.MoveableStack {
			return append(lines, "inputs = {}")
		}
		return append(lines, "providers = {}")
	}
	lines := []string{"source = " + w.Was.Source}
	if w.Was.Version != "" {
		lines = append(lines, "version = "+w.Was.Version)
	}
	if w.Kind == stackaddrs.MoveableComponent && w.Was.Providers != "" {
		lines = append(lines, "providers = "+w.literal(w.Was.Providers))
	}
	if w.Kind == stackaddrs.MoveableStack && w.Was.Inputs != "" {
		lines = append(lines, "inputs = "+w.literal(w.Was.Inputs))
	}
	return lines
}

// literal returns an expression with the key of the instance in place of each.key, unless the block
// is for all instances.
func (w *writer) literal(src string) string {
	tokens, diags := hclsyntax.LexExpression([]byte(src), "", hcl.InitialPos)
	if diags.HasErrors() {
		w.complete = false
		return src
	}
	var text strings.Builder
	written := 0
	for i := 0; i+2 < len(tokens); i++ {
		isEach := tokens[i].Type == hclsyntax.TokenIdent && string(tokens[i].Bytes) == "each" &&
			(i == 0 || tokens[i-1].Type != hclsyntax.TokenDot) && tokens[i+1].Type == hclsyntax.TokenDot
		attribute := string(tokens[i+2].Bytes)
		if !isEach || attribute != "key" && attribute != "value" {
			continue
		}
		w.usesEach = true
		switch {
		case w.All:
		case attribute == "value" && !w.Was.OfSet:
			w.usesValue = true
		default:
			text.WriteString(src[written:tokens[i].Range.Start.Byte])
			text.WriteString(literalKey(w.Key))
			written = tokens[i+2].Range.End.Byte
		}
	}
	return text.String() + src[written:]
}

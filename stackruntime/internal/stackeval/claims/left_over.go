// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// unknownSource stands for a source that is not known. There is no such directory, which is
// reported where it is not filled in.
const unknownSource = "./SOURCE-IT-HAD"

// LeftOver is an instance that no block claims, and which may be left to a removed block.
type LeftOver struct {
	Stack stackaddrs.StackInstance // with the removed block that is to be added
	Kind  stackaddrs.MoveableKind
	Name  string
	Key   stackaddrs.InstanceKey
	More  []stackaddrs.InstanceKey // of other instances that the same block is to remove

	// Files have the text of expressions, by their names.
	Files map[string]*hcl.File

	// The block that has produced the instance, as far as it is written still.
	Source    *stackconfig.Source // nil if there is no such block any more
	ForEach   hcl.Expression
	Providers []stackconfig.ProviderAssignment
	Inputs    hcl.Expression

	// OfSet says that each.value is each.key.
	OfSet bool
}

// Suggest says how to write the removal as a removed block, to be pasted. Keys are literals, except
// where another instance of the stack that the block belongs to may still have the instance; the
// user has to fill in the parts that are not known any more.
func (r LeftOver) Suggest() string {
	block, complete := r.block()
	if block == "" {
		return ""
	}
	place := ""
	if !r.Stack.IsRoot() {
		place = " in the files of " + r.Stack.Config().String()
	}
	missing := ""
	if !complete {
		missing = " once what is in capitals is filled in with what it had,"
	}
	return fmt.Sprintf("This block%s destroys it,%s or forgets it with lifecycle { destroy = false }:\n\n  %s\n\n",
		place, missing, strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n  "))
}

// block returns the text of the block, "" if it cannot be written, and reports whether it is
// complete.
func (r LeftOver) block() (text string, complete bool) {
	t := &removalText{LeftOver: r, complete: true}
	address := r.Kind.String() + "." + r.Name
	arguments := t.arguments()
	lines := []string{"from = " + address + r.Key.String()}
	switch {
	case t.failed:
		return "", false
	case t.usesValue:
		t.complete = false
		lines = []string{"for_each = { " + t.key() + " = \"VALUE_IT_HAD\" }", "from = " + address + "[each.key]"}
	case len(t.More) > 0:
		keys := []string{t.key()}
		for _, key := range t.More {
			keys = append(keys, literalKey(key))
		}
		lines = []string{"for_each = toset([" + strings.Join(keys, ", ") + "])", "from = " + address + "[each.key]"}
	case t.mayBeElsewhere():
		lines = []string{
			"for_each = setsubtract([" + t.key() + "], keys({ for key, value in " + t.source(r.ForEach) + " : key => value }))",
			"from = " + address + "[each.key]",
		}
	}
	lines = append(lines, arguments...)
	formatted, _, diags := safehcl.Format([]byte("removed {\n"+strings.Join(lines, "\n")+"\n}\n"), "")
	return string(formatted), t.complete && !t.failed && !diags.HasErrors()
}

type removalText struct {
	LeftOver
	complete  bool
	failed    bool // the text of an expression is not to be had in native syntax
	usesValue bool // each.value is in it, which nobody knows any more
}

// key returns the key as an expression.
func (t *removalText) key() string { return literalKey(t.Key) }

func literalKey(key stackaddrs.InstanceKey) string {
	return strings.TrimSuffix(strings.TrimPrefix(key.String(), "["), "]")
}

// mayBeElsewhere reports whether the stack has, or may have, several instances, of which others may
// declare the instance.
func (t *removalText) mayBeElsewhere() bool {
	if t.ForEach == nil || t.Key == stackaddrs.NoKey {
		return false
	}
	for _, step := range t.Stack.Path() {
		if step.Key != stackaddrs.NoKey {
			return true
		}
	}
	return false
}

func (t *removalText) arguments() []string {
	if t.Source == nil {
		t.complete = false
		lines := []string{fmt.Sprintf("source = %q", unknownSource)}
		if t.Kind == stackaddrs.MoveableStack {
			return append(lines, "inputs = {}")
		}
		return append(lines, "providers = {}")
	}
	lines := []string{fmt.Sprintf("source = %q", t.Source.Written)}
	if t.Source.Version != "" {
		lines = append(lines, fmt.Sprintf("version = %q", t.Source.Version))
	}
	if len(t.Providers) > 0 {
		lines = append(lines, "providers = {")
		for _, assigned := range t.Providers {
			lines = append(lines, assigned.Slot.String()+" = "+t.literal(assigned.Value))
		}
		lines = append(lines, "}")
	}
	if t.Inputs != nil {
		lines = append(lines, "inputs = "+t.literal(t.Inputs))
	}
	return lines
}

// source returns an expression as it is written.
func (t *removalText) source(expr hcl.Expression) string {
	at := expr.Range()
	file := t.Files[at.Filename]
	if file == nil || strings.HasSuffix(at.Filename, ".json") || !at.CanSliceBytes(file.Bytes) {
		t.failed = true
		return ""
	}
	return string(at.SliceBytes(file.Bytes))
}

// literal returns an expression with the key of the instance in place of each.key.
func (t *removalText) literal(expr hcl.Expression) string {
	src := t.source(expr)
	tokens, diags := hclsyntax.LexExpression([]byte(src), "", hcl.InitialPos)
	if diags.HasErrors() {
		t.failed = true
		return ""
	}
	var text strings.Builder
	written := 0
	for i := 0; i+2 < len(tokens); i++ {
		isEach := tokens[i].Type == hclsyntax.TokenIdent && string(tokens[i].Bytes) == "each" &&
			(i == 0 || tokens[i-1].Type != hclsyntax.TokenDot) && tokens[i+1].Type == hclsyntax.TokenDot
		attribute := string(tokens[i+2].Bytes)
		switch {
		case !isEach || attribute != "key" && attribute != "value":
			continue
		case attribute == "value" && !t.OfSet:
			t.usesValue = true
			continue
		}
		text.WriteString(src[written:tokens[i].Range.Start.Byte])
		text.WriteString(t.key())
		written = tokens[i+2].Range.End.Byte
	}
	return text.String() + src[written:]
}

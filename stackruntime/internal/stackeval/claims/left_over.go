// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/removal"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

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
		missing = " once you have replaced the words in capitals,"
	}
	return fmt.Sprintf("This block%s destroys it,%s or forgets it with lifecycle { destroy = false }:\n\n  %s\n\n",
		place, missing, strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n  "))
}

// block returns the text of the block, "" if it cannot be written, and reports whether it is
// complete.
func (r LeftOver) block() (text string, complete bool) {
	left := removal.LeftOver{Kind: r.Kind, Name: r.Name, Key: r.Key, More: r.More, Elsewhere: r.mayBeElsewhere()}
	if r.Source == nil {
		return left.Text()
	}
	t := &texts{files: r.Files}
	left.Was = &removal.Block{Source: fmt.Sprintf("%q", r.Source.Written), OfSet: r.OfSet}
	if r.Source.Version != "" {
		left.Was.Version = fmt.Sprintf("%q", r.Source.Version)
	}
	if left.Elsewhere && r.ForEach != nil {
		left.Was.ForEach = t.of(r.ForEach)
	}
	if len(r.Providers) > 0 {
		left.Was.Providers = "{\n"
		for _, assigned := range r.Providers {
			left.Was.Providers += assigned.Slot.String() + " = " + t.of(assigned.Value) + "\n"
		}
		left.Was.Providers += "}"
	}
	if r.Inputs != nil {
		left.Was.Inputs = t.of(r.Inputs)
	}
	if t.failed {
		return "", false
	}
	return left.Text()
}

// mayBeElsewhere reports whether the stack has, or may have, several instances, of which others may
// declare the instance.
func (r LeftOver) mayBeElsewhere() bool {
	for _, step := range r.Stack.Path() {
		if step.Key != stackaddrs.NoKey {
			return true
		}
	}
	return false
}

// texts have expressions as they are written.
type texts struct {
	files  map[string]*hcl.File
	failed bool // the text of an expression is not to be had in native syntax
}

func (t *texts) of(expr hcl.Expression) string {
	at := expr.Range()
	file := t.files[at.Filename]
	if file == nil || strings.HasSuffix(at.Filename, ".json") || !at.CanSliceBytes(file.Bytes) {
		t.failed = true
		return ""
	}
	return string(at.SliceBytes(file.Bytes))
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// changeKind is a combination of actions on one resource.
type changeKind struct {
	symbol  string
	meaning string // in the legend
	verb    string
}

var (
	kindCreate       = changeKind{"+", "create", "will be created"}
	kindUpdate       = changeKind{"~", "update in-place", "will be updated in-place"}
	kindDelete       = changeKind{"-", "destroy", "will be destroyed"}
	kindDeleteCreate = changeKind{"-/+", "destroy and then create replacement", "must be replaced"}
	kindCreateDelete = changeKind{"+/-", "create replacement and then destroy", "must be replaced"}
	kindRead         = changeKind{"<=", "read (data sources)", "will be read during apply"}
	kindForget       = changeKind{".", "forget", "will no longer be managed, but will not be destroyed"}
	kindCreateForget = changeKind{"+/.", "create replacement and then forget", "must be replaced, and the old object will not be destroyed"}
	kindNothing      = changeKind{"", "", "will not change"}
	changeKinds      = []changeKind{
		kindCreate, kindUpdate, kindDelete, kindDeleteCreate, kindCreateDelete, kindRead, kindForget,
		kindCreateForget,
	}
	replaceBecauseWhy = map[engine.ActionReason]string{
		engine.ReplaceBecauseTainted: "is tainted, so must be replaced",
		engine.ReplaceByRequest:      "will be replaced, as requested",
		engine.ReplaceByTriggers:     "will be replaced due to changes in replace_triggered_by",
	}
)

var kinds = map[engine.Action]changeKind{
	engine.ActionCreate:           kindCreate,
	engine.ActionUpdate:           kindUpdate,
	engine.ActionDelete:           kindDelete,
	engine.ActionDeleteThenCreate: kindDeleteCreate,
	engine.ActionCreateThenDelete: kindCreateDelete,
	engine.ActionRead:             kindRead,
	engine.ActionForget:           kindForget,
	engine.ActionCreateThenForget: kindCreateForget,
	engine.ActionForgetThenCreate: kindCreateForget,
}

// kindOf returns the kind of an action: kindNothing where nothing is done or nothing could be
// planned.
func kindOf(action engine.Action) changeKind {
	if kind, ok := kinds[action]; ok {
		return kind
	}
	return kindNothing
}

// resourceView writes the change of one resource instance.
type resourceView struct {
	*page
	drift          bool   // a change made outside, not a planned one
	deferredReason string // set for a deferred change
}

const attributeIndent = 6

func (v resourceView) write(c *engine.Change) {
	kind := kindOf(c.Action)
	for i, line := range v.comments(c, kind) {
		if i == 0 {
			line = v.Bold(line)
		}
		v.comment(line)
	}
	v.printf("%s%s %s {\n", strings.Repeat(" ", 3-len(kind.symbol)), v.Symbol(kind.symbol), resourceHead(c))
	if c.Action != "" {
		v.WriteString(valuediff.Attributes(v.change(c, kind), valuediff.Options{
			Style: v.Style, Indent: attributeIndent, Concise: v.concise,
			Full: kind == kindNothing && c.Importing != nil,
		}))
	}
	v.printf("    }\n\n")
}

// change returns the values before and after. A created object has nothing before.
func (v resourceView) change(c *engine.Change, kind changeKind) valuediff.Change {
	result := valuediff.Change{Before: valuediff.FromResource(c.Before), After: valuediff.FromResource(c.After), Replace: c.Replace}
	if c.Before == cty.NilVal || c.Before.IsNull() {
		result.Before = nil
	}
	switch kind {
	case kindForget:
		result.After = result.Before // the object stays as it is
	case kindDelete:
		result.After = nil
	}
	return result
}

// resourceHead is the start of the block as it stands in a configuration.
func resourceHead(c *engine.Change) string {
	word := "resource"
	if c.Addr.Resource.Mode == stackaddrs.DataResource {
		word = "data"
	}
	return fmt.Sprintf("%s %s %s", word, valuediff.Quote(c.Addr.Resource.Type), valuediff.Quote(c.Addr.Resource.Name))
}

// comments are the comments above a change.
func (v resourceView) comments(c *engine.Change, kind changeKind) []string {
	name := c.Address()
	if c.Deposed != "" {
		name = stackaddrs.ResourceInstanceObject{Instance: c.Addr, Deposed: c.Deposed}.String()
	}
	switch {
	case v.deferredReason != "":
		lines := []string{name + " is deferred", "(because " + v.deferredReason + ")"}
		if c.Importing != nil {
			lines = append(lines, toBeImported(c.Importing))
		}
		return lines
	case v.drift && kind == kindDelete:
		return []string{name + " has been deleted"}
	case v.drift:
		return []string{name + " has changed"}
	case kind == kindNothing && c.Importing != nil:
		return append([]string{name + " will be imported"}, movedFrom(c)...)
	case kind == kindNothing && c.IsMove():
		return []string{c.PreviousAddr.String() + " has moved to " + name}
	}
	verb := kind.verb
	if why, ok := replaceBecauseWhy[c.Reason]; ok {
		verb = why
	}
	lines := []string{name + " " + verb}
	if reason := actionReason(c); kind == kindForget {
		lines = append(lines, "(destroy = false is set in the configuration)")
	} else if reason != "" {
		lines = append(lines, "("+reason+")")
	}
	lines = append(lines, movedFrom(c)...)
	if from := importedFrom(c); from != "" {
		lines = append(lines, from)
	}
	return lines
}

func movedFrom(c *engine.Change) []string {
	if !c.IsMove() {
		return nil
	}
	return []string{"(moved from " + c.PreviousAddr.String() + ")"}
}

func importedFrom(c *engine.Change) string {
	if c.Importing == nil {
		return ""
	}
	if id := c.Importing.ID; id != "" {
		return "(imported from " + valuediff.Quote(id) + ")"
	}
	return "(imported)"
}

// toBeImported names the object to import, as far as it is known.
func toBeImported(importing *engine.Importing) string {
	if importing.ID != "" {
		return "(to be imported from " + valuediff.Quote(importing.ID) + ")"
	}
	return "(to be imported)"
}

// actionReason returns the reason why something is destroyed or only read later.
func actionReason(c *engine.Change) string {
	switch c.Reason {
	case engine.DeleteBecauseNoResourceConfig:
		return "because " + resourceAddress(c) + " is not in configuration"
	case engine.DeleteBecauseNoModule:
		return "because " + c.Addr.Module.String() + " is not in configuration"
	case engine.DeleteBecauseWrongRepetition:
		return wrongRepetition(c.Addr.Key.Index())
	case engine.DeleteBecauseCountIndex:
		return fmt.Sprintf("because index [%v] is out of range for count", c.Addr.Key.Index())
	case engine.DeleteBecauseEachKey:
		return fmt.Sprintf("because key [%s] is not in for_each map", valuediff.Quote(fmt.Sprint(c.Addr.Key.Index())))
	case engine.DeleteBecauseNotEnabled:
		return "because enabled is false"
	case engine.DeleteBecauseNoMoveTarget:
		return "because it was moved to " + c.Address() + ", which is not in configuration"
	case engine.ReadBecauseConfigUnknown:
		return "config refers to values not yet known"
	case engine.ReadBecauseDependencyPending:
		return "depends on a resource or a module with changes pending"
	case engine.ReadBecauseCheckNested:
		return "config will be reloaded to verify a check block"
	}
	return ""
}

func wrongRepetition(index any) string {
	switch index.(type) {
	case nil:
		return "because resource uses count or for_each"
	case string:
		return "because resource does not use for_each"
	}
	return "because resource does not use count"
}

// resourceAddress is the address of the block, without the instance key.
func resourceAddress(c *engine.Change) string {
	return stackaddrs.ResourceInstance{Module: c.Addr.Module, Resource: c.Addr.Resource}.String()
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// changeKind is a combination of actions on one resource.
type changeKind struct {
	symbol  string
	meaning string // in the legend
	verb    string
}

var (
	kindCreate        = changeKind{"+", "create", "will be created"}
	kindUpdate        = changeKind{"~", "update in-place", "will be updated in-place"}
	kindDelete        = changeKind{"-", "destroy", "will be destroyed"}
	kindDeleteCreate  = changeKind{"-/+", "destroy and then create replacement", "must be replaced"}
	kindCreateDelete  = changeKind{"+/-", "create replacement and then destroy", "must be replaced"}
	kindRead          = changeKind{"<=", "read (data sources)", "will be read during apply"}
	kindForget        = changeKind{".", "forget", "will no longer be managed, but will not be destroyed"}
	kindCreateForget  = changeKind{"+/.", "create replacement and then forget", "must be replaced, and the old object will not be destroyed"}
	kindNothing       = changeKind{"", "", "will not change"}
	changeKinds       = []changeKind{kindCreate, kindUpdate, kindDelete, kindDeleteCreate, kindCreateDelete, kindRead, kindForget, kindCreateForget}
	replaceBecauseWhy = map[tfjson.ActionReason]string{
		tfjson.ActionReasonReplaceBecauseTainted: "is tainted, so must be replaced",
		tfjson.ActionReasonReplaceByRequest:      "will be replaced, as requested",
		tfjson.ActionReasonReplaceByTriggers:     "will be replaced due to changes in replace_triggered_by",
	}
)

// actionsOf classifies a change.
func actionsOf(rc *tfjson.ResourceChange) changeKind {
	actions := rc.Change.Actions
	switch {
	case actions.DestroyBeforeCreate():
		return kindDeleteCreate
	case actions.CreateBeforeDestroy():
		return kindCreateDelete
	case actions.Create():
		return kindCreate
	case actions.Update():
		return kindUpdate
	case actions.Delete():
		return kindDelete
	case actions.Read():
		return kindRead
	case actions.Forget():
		return kindForget
	case slices.Contains(actions, tfjson.ActionForget) && slices.Contains(actions, tfjson.ActionCreate):
		return kindCreateForget
	}
	return kindNothing
}

// resourceView writes the change of one resource instance.
type resourceView struct {
	*page
	drift          bool   // what happened outside, not what will be done
	deferredReason string // set for a deferred change
}

const attributeIndent = 6

func (v resourceView) write(rc *tfjson.ResourceChange) {
	kind := kindNothing
	if rc.Change != nil {
		kind = actionsOf(rc)
	}
	for i, line := range v.comments(rc, kind) {
		if i == 0 {
			line = v.Bold(line)
		}
		v.comment(line)
	}
	v.printf("%s%s %s {\n", strings.Repeat(" ", 3-len(kind.symbol)), v.Symbol(kind.symbol), resourceHead(rc))
	if rc.Change != nil {
		v.WriteString(valuediff.Attributes(v.change(rc.Change, kind), valuediff.Options{
			Style: v.Style, Indent: attributeIndent, Concise: v.concise,
			Full: kind == kindNothing && rc.Change.Importing != nil,
		}))
	}
	v.printf("    }\n\n")
}

// change returns the values before and after. What is created has nothing
// before, also where an object without attributes says so.
func (v resourceView) change(change *tfjson.Change, kind changeKind) valuediff.Change {
	result := valuediff.Change{
		Before:  valuediff.FromJSON(change.Before, nil, change.BeforeSensitive),
		After:   valuediff.FromJSON(change.After, change.AfterUnknown, change.AfterSensitive),
		Replace: change.ReplacePaths,
	}
	if change.Before == nil {
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
func resourceHead(rc *tfjson.ResourceChange) string {
	word := "resource"
	if rc.Mode == tfjson.DataResourceMode {
		word = "data"
	}
	return fmt.Sprintf("%s %s %s", word, valuediff.Quote(rc.Type), valuediff.Quote(rc.Name))
}

// comments are what is said about a change above it.
func (v resourceView) comments(rc *tfjson.ResourceChange, kind changeKind) []string {
	name := rc.Address
	if rc.DeposedKey != "" {
		name += " (deposed object " + rc.DeposedKey + ")"
	}
	switch {
	case v.deferredReason != "":
		lines := []string{name + " is deferred", "(because " + v.deferredReason + ")"}
		if rc.Change != nil && rc.Change.Importing != nil {
			lines = append(lines, toBeImported(rc.Change.Importing))
		}
		return lines
	case v.drift && kind == kindDelete:
		return []string{name + " has been deleted"}
	case v.drift:
		return []string{name + " has changed"}
	case kind == kindNothing && rc.Change != nil && rc.Change.Importing != nil:
		return append([]string{name + " will be imported"}, movedFrom(rc)...)
	case kind == kindNothing && stackplan.IsMoved(rc):
		return []string{rc.PreviousAddress + " has moved to " + name}
	}
	verb := kind.verb
	if why, ok := replaceBecauseWhy[rc.ActionReason]; ok {
		verb = why
	}
	lines := []string{name + " " + verb}
	if reason := actionReason(rc); kind == kindForget {
		lines = append(lines, "(destroy = false is set in the configuration)")
	} else if reason != "" {
		lines = append(lines, "("+reason+")")
	}
	lines = append(lines, movedFrom(rc)...)
	if from := importedFrom(rc); from != "" {
		lines = append(lines, from)
	}
	return lines
}

func movedFrom(rc *tfjson.ResourceChange) []string {
	if !stackplan.IsMoved(rc) {
		return nil
	}
	return []string{"(moved from " + rc.PreviousAddress + ")"}
}

func importedFrom(rc *tfjson.ResourceChange) string {
	if rc.Change == nil || rc.Change.Importing == nil {
		return ""
	}
	if id := rc.Change.Importing.ID; id != "" {
		return "(imported from " + valuediff.Quote(id) + ")"
	}
	return "(imported)"
}

// toBeImported says what is going to be imported, as far as that is known.
func toBeImported(importing *tfjson.Importing) string {
	if importing.ID != "" {
		return "(to be imported from " + valuediff.Quote(importing.ID) + ")"
	}
	return "(to be imported)"
}

// actionReason says why something is destroyed or only read later.
func actionReason(rc *tfjson.ResourceChange) string {
	switch rc.ActionReason {
	case tfjson.ActionReasonDeleteBecauseNoResourceConfig:
		return "because " + resourceAddress(rc) + " is not in configuration"
	case tfjson.ActionReasonDeleteBecauseNoModule:
		return "because " + rc.ModuleAddress + " is not in configuration"
	case tfjson.ActionReasonDeleteBecauseWrongRepetition:
		return wrongRepetition(rc.Index)
	case tfjson.ActionReasonDeleteBecauseCountIndex:
		return fmt.Sprintf("because index [%v] is out of range for count", rc.Index)
	case tfjson.ActionReasonDeleteBecauseEachKey:
		return fmt.Sprintf("because key [%s] is not in for_each map", valuediff.Quote(fmt.Sprint(rc.Index)))
	case tfjson.ActionReasonDeleteBecauseNoMoveTarget:
		return "because it was moved to " + rc.Address + ", which is not in configuration"
	case tfjson.ActionReasonReadBecauseConfigUnknown:
		return "config refers to values not yet known"
	case tfjson.ActionReasonReadBecauseDependencyPending:
		return "depends on a resource or a module with changes pending"
	case tfjson.ActionReasonReadBecauseCheckNested:
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
func resourceAddress(rc *tfjson.ResourceChange) string {
	addr := rc.Type + "." + rc.Name
	if rc.Mode == tfjson.DataResourceMode {
		addr = "data." + addr
	}
	if rc.ModuleAddress != "" {
		addr = rc.ModuleAddress + "." + addr
	}
	return addr
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// actions has the planned actions by their number.
var actions = map[uint64]engine.Action{
	0:  engine.ActionNoOp,
	1:  engine.ActionCreate,
	2:  engine.ActionRead,
	3:  engine.ActionUpdate,
	5:  engine.ActionDelete,
	6:  engine.ActionDeleteThenCreate,
	7:  engine.ActionCreateThenDelete,
	8:  engine.ActionForget,
	9:  engine.ActionCreateThenForget, // terraform only
	10: engine.ActionForgetThenCreate, // tofu only
}

// actionReasons has the reasons by their number; the last three are tofu's only.
var actionReasons = map[uint64]engine.ActionReason{
	1:  engine.ReplaceBecauseTainted,
	2:  engine.ReplaceByRequest,
	3:  engine.ReplaceBecauseCannotUpdate,
	4:  engine.DeleteBecauseNoResourceConfig,
	5:  engine.DeleteBecauseWrongRepetition,
	6:  engine.DeleteBecauseCountIndex,
	7:  engine.DeleteBecauseEachKey,
	8:  engine.DeleteBecauseNoModule,
	9:  engine.ReplaceByTriggers,
	10: engine.ReadBecauseConfigUnknown,
	11: engine.ReadBecauseDependencyPending,
	12: engine.DeleteBecauseNoMoveTarget,
	13: engine.ReadBecauseCheckNested,
	14: engine.DeleteBecauseNotEnabled,
	15: "forgot_because_lifecycle_destroy_in_state",
	16: "forgot_because_lifecycle_destroy_in_config",
}

// deferredReasons has the reasons for deferral by their number; terraform only.
var deferredReasons = map[uint64]string{
	1: "instance_count_unknown",
	2: "resource_config_unknown",
	3: "provider_config_unknown",
	4: "absent_prereq",
	5: "deferred_prereq",
}

// change is a Change message with its values still encoded.
type change struct {
	action                        engine.Action
	before, after                 []byte // nil where the action has none
	sensitiveBefore               []cty.Path
	sensitiveAfter                []cty.Path
	importing                     *engine.Importing
	generatedConfig               string
	identityBefore, identityAfter cty.Value
}

func parseChange(f field) (*change, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	c := new(change)
	var action uint64
	var values [][]byte
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 1:
			return f.setUint(&action)
		case 2:
			var value []byte
			value, err = f.dynamicValue()
			values = append(values, value)
		case 3:
			return f.appendPath(&c.sensitiveBefore)
		case 4:
			return f.appendPath(&c.sensitiveAfter)
		case 5:
			c.importing, err = parseImporting(f)
		case 6:
			return f.setString(&c.generatedConfig)
		case 7:
			c.identityBefore, err = f.untypedValue()
		case 8:
			c.identityAfter, err = f.untypedValue()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, c.assign(action, values)
}

// assign gives the values of the message their roles, which depend on the action.
func (c *change) assign(action uint64, values [][]byte) error {
	var ok bool
	if c.action, ok = actions[action]; !ok {
		return fmt.Errorf("unknown action %d", action)
	}
	want := 2
	switch c.action {
	case engine.ActionNoOp, engine.ActionCreate, engine.ActionDelete, engine.ActionForget:
		want = 1
	}
	if len(values) < want {
		return fmt.Errorf("%d values for the action %q", len(values), c.action)
	}
	switch c.action {
	case engine.ActionNoOp:
		c.before, c.after = values[0], values[0]
	case engine.ActionCreate:
		c.after = values[0]
	case engine.ActionDelete, engine.ActionForget:
		c.before = values[0]
	default:
		c.before, c.after = values[0], values[1]
	}
	return nil
}

// untypedValue decodes a DynamicValue message whose type is not known.
func (f field) untypedValue() (cty.Value, error) {
	value, err := f.dynamicValue()
	if err != nil {
		return cty.NilVal, err
	}
	return decodeValue(value, place{})
}

// parseImporting decodes an Importing message. The programs disagree on field 2: it is a flag for
// terraform, whose identity is field 3, and the identity for tofu.
func parseImporting(f field) (*engine.Importing, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	out := new(engine.Importing)
	err = eachField(msg, func(f field) error {
		var err error
		switch {
		case f.num == 1:
			return f.setString(&out.ID)
		case f.num == 2 && !f.isLen:
			return f.setBool(&out.Unknown)
		case f.num == 2, f.num == 3:
			out.Identity, err = f.untypedValue()
		}
		return err
	})
	return out, err
}

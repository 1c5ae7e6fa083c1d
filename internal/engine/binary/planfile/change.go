// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
)

// actions has the planned actions by their number.
var actions = map[uint64]tfjson.Actions{
	0:  {tfjson.ActionNoop},
	1:  {tfjson.ActionCreate},
	2:  {tfjson.ActionRead},
	3:  {tfjson.ActionUpdate},
	5:  {tfjson.ActionDelete},
	6:  {tfjson.ActionDelete, tfjson.ActionCreate},
	7:  {tfjson.ActionCreate, tfjson.ActionDelete},
	8:  {tfjson.ActionForget},
	9:  {tfjson.ActionCreate, tfjson.ActionForget}, // terraform only
	10: {tfjson.ActionForget, tfjson.ActionCreate}, // tofu only
}

// actionReasons has the reasons by their number; the last three are tofu's only.
var actionReasons = map[uint64]tfjson.ActionReason{
	1:  tfjson.ActionReasonReplaceBecauseTainted,
	2:  tfjson.ActionReasonReplaceByRequest,
	3:  tfjson.ActionReasonReplaceBecauseCannotUpdate,
	4:  tfjson.ActionReasonDeleteBecauseNoResourceConfig,
	5:  tfjson.ActionReasonDeleteBecauseWrongRepetition,
	6:  tfjson.ActionReasonDeleteBecauseCountIndex,
	7:  tfjson.ActionReasonDeleteBecauseEachKey,
	8:  tfjson.ActionReasonDeleteBecauseNoModule,
	9:  tfjson.ActionReasonReplaceByTriggers,
	10: tfjson.ActionReasonReadBecauseConfigUnknown,
	11: tfjson.ActionReasonReadBecauseDependencyPending,
	12: tfjson.ActionReasonDeleteBecauseNoMoveTarget,
	13: tfjson.ActionReasonReadBecauseCheckNested,
	14: "delete_because_enabled_false",
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
	action                        uint64
	actions                       tfjson.Actions
	before, after                 []byte // nil where the action has none
	sensitiveBefore               []path
	sensitiveAfter                []path
	importing                     *tfjson.Importing
	generatedConfig               string
	identityBefore, identityAfter any
}

func parseChange(f field) (*change, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	c := new(change)
	var values [][]byte
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 1:
			return f.setUint(&c.action)
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
	return c, c.assign(values)
}

// assign gives the values of the message their roles, which depend on the action.
func (c *change) assign(values [][]byte) error {
	var ok bool
	if c.actions, ok = actions[c.action]; !ok {
		return fmt.Errorf("unknown action %d", c.action)
	}
	want := 2
	switch c.actions[0] {
	case tfjson.ActionNoop:
		want = 1
		if len(values) > 0 {
			c.before, c.after = values[0], values[0]
		}
	case tfjson.ActionCreate, tfjson.ActionDelete, tfjson.ActionForget:
		if len(c.actions) == 1 {
			want = 1
		}
	}
	if len(values) < want {
		return fmt.Errorf("%d values for the action %q", len(values), c.actions[0])
	}
	switch {
	case want == 2:
		c.before, c.after = values[0], values[1]
	case c.actions.Create():
		c.after = values[0]
	case c.actions.Delete(), c.actions.Forget():
		c.before = values[0]
	}
	return nil
}

// untypedValue decodes a DynamicValue message whose type nobody tells us.
func (f field) untypedValue() (any, error) {
	value, err := f.dynamicValue()
	if err != nil {
		return nil, err
	}
	n, err := decodeValue(value, cty.NilType)
	return n.known(), err
}

// parseImporting decodes an Importing message. The programs disagree on field 2: it is a flag for
// terraform, whose identity is field 3, and the identity for tofu.
func parseImporting(f field) (*tfjson.Importing, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	out := new(tfjson.Importing)
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

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// resourceChange is a decoded resource change with what is needed to sort and filter it.
type resourceChange struct {
	addr   stackaddrs.ResourceInstance
	change *tfjson.ResourceChange
}

// resourceReader decodes resource changes.
type resourceReader struct {
	opts  Options
	types map[*tfjson.Schema]cty.Type
}

func (r *resourceReader) parse(f field) (resourceChange, error) {
	var out resourceChange
	msg, err := f.message()
	if err != nil {
		return out, err
	}
	rc := new(tfjson.ResourceChange)
	var provider string
	var c *change
	var replace []path
	var reason uint64
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 7:
			return f.setString(&rc.DeposedKey)
		case 8:
			return f.setString(&provider)
		case 9:
			c, err = parseChange(f)
		case 11:
			return f.appendPath(&replace)
		case 12:
			return f.setUint(&reason)
		case 13:
			return f.setString(&rc.Address)
		case 14:
			return f.setString(&rc.PreviousAddress)
		}
		return err
	})
	if err == nil && c == nil {
		err = errors.New("the change itself is missing")
	}
	if err == nil {
		out.addr, err = parseAddress(rc.Address)
	}
	if err == nil {
		rc.ProviderName, err = providerName(provider)
	}
	if err == nil {
		describe(rc, out.addr)
		rc.ActionReason = actionReasons[reason] // for display only, so an unknown one does no harm
		rc.Change, err = r.render(rc, c)
	}
	if err != nil {
		return out, fmt.Errorf("change of %q: %w", rc.Address, err)
	}
	for _, p := range replace {
		rc.Change.ReplacePaths = append(rc.Change.ReplacePaths, p.json())
	}
	out.change = rc
	return out, nil
}

// render decodes the values of a change.
func (r *resourceReader) render(rc *tfjson.ResourceChange, c *change) (*tfjson.Change, error) {
	var schema *tfjson.Schema
	if r.opts.Schema != nil {
		schema = r.opts.Schema(rc.ProviderName, rc.Mode, rc.Type)
	}
	if rc.Mode == ephemeralResourceMode {
		c.before, c.after = nil, nil
	}
	if schema == nil && len(c.actions) > 1 {
		// For a replacement, the file lists what is sensitive by the schema for the prior value only.
		for _, p := range c.sensitiveBefore {
			c.sensitiveAfter = append(c.sensitiveAfter, p.anyElement())
		}
	}
	before, err := r.value(c.before, schema, c.sensitiveBefore)
	if err != nil {
		return nil, fmt.Errorf("prior value: %w", err)
	}
	after, err := r.value(c.after, schema, c.sensitiveAfter)
	if err != nil {
		return nil, fmt.Errorf("planned value: %w", err)
	}
	out := &tfjson.Change{
		Actions:         c.actions,
		Before:          before.known(),
		After:           after.known(),
		AfterUnknown:    map[string]any{},
		BeforeSensitive: before.sensitivity(),
		AfterSensitive:  after.sensitivity(),
		Importing:       c.importing,
		GeneratedConfig: c.generatedConfig,
		BeforeIdentity:  c.identityBefore,
		AfterIdentity:   c.identityAfter,
	}
	if !after.whollyKnown() {
		out.AfterUnknown = after.unknowns()
	}
	return out, nil
}

func (r *resourceReader) value(data []byte, schema *tfjson.Schema, sensitive []path) (node, error) {
	if data == nil {
		return node{}, nil
	}
	n, err := decodeValue(data, r.schemaType(schema))
	if err != nil {
		return n, err
	}
	for _, p := range sensitive {
		n.markSensitive(p)
	}
	if schema != nil {
		n.markBlock(schema.Block)
	}
	return n, nil
}

func (r *resourceReader) schemaType(schema *tfjson.Schema) cty.Type {
	if schema == nil {
		return cty.NilType
	}
	ty, ok := r.types[schema]
	if !ok {
		ty = blockType(schema.Block)
		r.types[schema] = ty
	}
	return ty
}

// parseDeferred decodes a DeferredResourceInstanceChange message.
func (r *resourceReader) parseDeferred(f field) (resourceChange, string, error) {
	var out resourceChange
	var reason uint64
	msg, err := f.message()
	if err != nil {
		return out, "", err
	}
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 1:
			var msg []byte
			if msg, err = f.message(); err != nil {
				return err
			}
			return eachField(msg, func(f field) error {
				if f.num == 1 {
					return f.setUint(&reason)
				}
				return nil
			})
		case 2:
			out, err = r.parse(f)
		}
		return err
	})
	if err == nil && out.change == nil {
		err = errors.New("a deferred change is empty")
	}
	return out, deferredReasons[reason], err
}

// sortChanges sorts in place, as `show -json` does, and returns its argument.
func sortChanges(changes []resourceChange) []resourceChange {
	slices.SortStableFunc(changes, func(a, b resourceChange) int {
		return cmp.Or(compareAddresses(a.addr, b.addr), cmp.Compare(a.change.DeposedKey, b.change.DeposedKey))
	})
	return changes
}

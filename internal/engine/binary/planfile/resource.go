// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// resourceReader decodes resource changes.
type resourceReader struct {
	opts      Options
	values    decoder
	providers map[string]stackaddrs.Provider // by the address of a provider configuration
}

func (r *resourceReader) parse(f field) (*engine.Change, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	out := new(engine.Change)
	var address, previous, deposed, provider string
	var c *change
	var reason uint64
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 7:
			return f.setString(&deposed)
		case 8:
			return f.setString(&provider)
		case 9:
			c, err = parseChange(f)
		case 11:
			return f.appendPath(&out.Replace)
		case 12:
			return f.setUint(&reason)
		case 13:
			return f.setString(&address)
		case 14:
			return f.setString(&previous)
		}
		return err
	})
	if err == nil && c == nil {
		err = errors.New("the change itself is missing")
	}
	if err == nil {
		out.Addr, err = parseAddress(address)
	}
	if err == nil && previous != "" && previous != address {
		out.PreviousAddr, err = parseAddress(previous)
	}
	if err == nil {
		out.Provider, err = r.provider(provider)
	}
	if err == nil {
		out.Deposed = stackaddrs.DeposedKey(deposed)
		out.Reason = actionReasons[reason] // for display only, so an unknown one does no harm
		err = r.fill(out, c)
	}
	if err != nil {
		return nil, fmt.Errorf("change of %q: %w", address, err)
	}
	return out, nil
}

// provider returns the provider of a provider configuration with an address such as
// `module.a.provider["registry.terraform.io/hashicorp/time"].west`.
func (r *resourceReader) provider(configAddr string) (stackaddrs.Provider, error) {
	if provider, ok := r.providers[configAddr]; ok {
		return provider, nil
	}
	_, rest, _ := strings.Cut(configAddr, `provider["`)
	name, _, ok := strings.Cut(rest, `"]`)
	provider, err := stackaddrs.ParseProvider(name)
	if !ok || err != nil {
		return provider, fmt.Errorf("invalid provider address %q", configAddr)
	}
	r.providers[configAddr] = provider
	return provider, nil
}

// fill decodes the values of a change.
func (r *resourceReader) fill(out *engine.Change, c *change) error {
	out.Action, out.Importing, out.GeneratedConfig = c.action, c.importing, c.generatedConfig
	out.BeforeIdentity, out.AfterIdentity = c.identityBefore, c.identityAfter
	var of place
	if r.opts.Schema != nil {
		if schema := r.opts.Schema(out.Provider, out.Addr.Resource.Mode, out.Addr.Resource.Type); schema != nil {
			of = place{ty: schema.Type, secret: schema.Secret}
		}
	}
	if out.Addr.Resource.Mode == stackaddrs.EphemeralResource {
		c.before, c.after = nil, nil
	}
	if of.ty == cty.NilType && out.Action.Succeeds() {
		// For a replacement, the file lists the sensitive attributes of the schema for the prior value
		// only.
		for _, p := range c.sensitiveBefore {
			c.sensitiveAfter = append(c.sensitiveAfter, anyElement(p))
		}
	}
	var err error
	if out.Before, err = r.value(c.before, of, c.sensitiveBefore); err != nil {
		return fmt.Errorf("prior value: %w", err)
	}
	if out.Action == engine.ActionNoOp && marks.EqualPaths(c.sensitiveBefore, c.sensitiveAfter) {
		out.After = out.Before
		return nil
	}
	if out.After, err = r.value(c.after, of, c.sensitiveAfter); err != nil {
		return fmt.Errorf("planned value: %w", err)
	}
	return nil
}

func (r *resourceReader) value(data []byte, of place, sensitive []cty.Path) (cty.Value, error) {
	if data == nil {
		return cty.NullVal(of.valueType()), nil
	}
	of.paths = sensitive
	return r.values.decode(data, of)
}

// parseDeferred decodes a DeferredResourceInstanceChange message.
func (r *resourceReader) parseDeferred(f field) (engine.DeferredChange, error) {
	var out engine.DeferredChange
	var reason uint64
	msg, err := f.message()
	if err != nil {
		return out, err
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
			out.Change, err = r.parse(f)
		}
		return err
	})
	if err == nil && out.Change == nil {
		err = errors.New("a deferred change is empty")
	}
	out.Reason = deferredReasons[reason]
	return out, err
}

// compareChanges gives the order of `show -json`.
func compareChanges(a, b *engine.Change) int {
	return cmp.Or(compareAddresses(a.Addr, b.Addr), cmp.Compare(a.Deposed, b.Deposed))
}

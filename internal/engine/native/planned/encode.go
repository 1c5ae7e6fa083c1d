// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned

import (
	"google.golang.org/protobuf/proto"

	componentv1 "github.com/cairnstacks/cairn/proto/cairn/component/v1"
)

// formatVersion is that of the encoding. Plans of other versions are refused.
const formatVersion = 2

// Encode returns what the plan has besides the result of planning.
func Encode(p *Plan) ([]byte, error) {
	encoded := &componentv1.Plan{
		FormatVersion: formatVersion, Prior: p.Prior,
		Number: uint32(len(p.Changes)), //nolint:gosec // there are never as many
	}
	for _, c := range p.Changes {
		if details := encodeChange(c); details != nil {
			encoded.Changes = append(encoded.Changes, details)
		}
	}
	for _, one := range p.Results {
		encoded.FunctionResults = append(encoded.FunctionResults, &componentv1.FunctionResult{Call: one.Call[:], Result: one.Result[:]})
	}
	for _, addr := range p.Deferred {
		encoded.Deferred = append(encoded.Deferred, addr.String())
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(encoded)
}

// encodeChange returns the details of a change, or nil if it has none.
func encodeChange(c *Change) *componentv1.Change {
	encoded := &componentv1.Change{
		Alias: c.Alias, Private: c.Private, BeforePrivate: c.BeforePrivate,
		CreateBeforeDestroy: c.CreateBeforeDestroy,
	}
	for i, invocation := range c.Invocations {
		if invocation.Conditional {
			encoded.Conditional = append(encoded.Conditional, uint32(i)) //nolint:gosec // there are never as many
		}
	}
	if proto.Size(encoded) == 0 {
		return nil
	}
	encoded.Address, encoded.Deposed = c.Addr.String(), string(c.Deposed)
	return encoded
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned

import (
	"fmt"

	componentv1 "github.com/cairnstacks/cairn/proto/cairn/component/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

func encodeInvocation(i *Invocation) (*componentv1.Invocation, error) {
	encoded := &componentv1.Invocation{
		Address: i.Addr.String(), Event: string(i.Trigger.Event), Block: int64(i.Trigger.Block), Position: int64(i.Trigger.Position),
		Conditional: i.Conditional, Deferred: i.Deferred,
	}
	if i.Provider != (stackaddrs.Provider{}) {
		encoded.Provider = i.Provider.String()
	}
	var err error
	if encoded.Config, err = storedvalue.Encode(i.Config); err != nil {
		return nil, fmt.Errorf("encoding the invocation of %s: %w", i.Addr, err)
	}
	return encoded, nil
}

// decodeInvocation decodes an action that the change of a resource instance triggers.
func decodeInvocation(of stackaddrs.ResourceInstance, encoded *componentv1.Invocation) (*Invocation, error) {
	i := &Invocation{
		Invocation: engine.Invocation{Trigger: engine.Trigger{
			Resource: of, Event: engine.TriggerEvent(encoded.GetEvent()), Block: int(encoded.GetBlock()), Position: int(encoded.GetPosition()),
		}},
		Conditional: encoded.GetConditional(), Deferred: encoded.GetDeferred(),
	}
	var err error
	if i.Addr, err = stackaddrs.ParsePartialActionInstance(encoded.GetAddress()); err != nil {
		return nil, err
	}
	if provider := encoded.GetProvider(); provider != "" {
		if i.Provider, err = stackaddrs.ParseProvider(provider); err != nil {
			return nil, err
		}
	}
	i.Config, err = storedvalue.Decode(encoded.GetConfig())
	return i, err
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"fmt"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// encodeInvocations encodes all invocations of a component: those that are deferred come last.
func encodeInvocations(c *Component) ([]*planv1.Invocation, error) {
	var encoded []*planv1.Invocation
	add := func(i *engine.Invocation, deferred string) error {
		one, err := encodeInvocation(i, deferred)
		encoded = append(encoded, one)
		return err
	}
	for _, i := range c.Invocations {
		if err := add(i, ""); err != nil {
			return nil, err
		}
	}
	for _, i := range c.DeferredInvocations {
		if err := add(i.Invocation, i.Reason); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

func encodeInvocation(i *engine.Invocation, deferred string) (*planv1.Invocation, error) {
	encoded := &planv1.Invocation{
		Address: i.Addr.String(), Resource: i.Trigger.Caller(), Event: string(i.Trigger.Event),
		Block: int64(i.Trigger.Block), Position: int64(i.Trigger.Position), Deferred: deferred,
		OnFailure: string(i.Trigger.OnFailure),
	}
	if i.Provider != (stackaddrs.Provider{}) {
		encoded.Provider = i.Provider.String()
	}
	var err error
	if encoded.Config, err = storedvalue.Encode(i.Config); err != nil {
		return nil, fmt.Errorf("invocation of %s: %w", i.Addr, err)
	}
	return encoded, nil
}

// decodeInvocations adds invocations to a component.
func decodeInvocations(c *Component, encoded []*planv1.Invocation) error {
	for _, one := range encoded {
		i, err := decodeInvocation(one)
		if err != nil {
			return fmt.Errorf("invocation of %q: %w", one.GetAddress(), err)
		}
		if reason := one.GetDeferred(); reason != "" {
			c.DeferredInvocations = append(c.DeferredInvocations, engine.DeferredInvocation{Reason: reason, Invocation: i})
		} else {
			c.Invocations = append(c.Invocations, i)
		}
	}
	return nil
}

func decodeInvocation(encoded *planv1.Invocation) (*engine.Invocation, error) {
	i := &engine.Invocation{Trigger: engine.Trigger{
		Event: engine.TriggerEvent(encoded.GetEvent()), Block: int(encoded.GetBlock()), Position: int(encoded.GetPosition()),
		OnFailure: engine.OnFailure(encoded.GetOnFailure()),
	}}
	var err error
	if i.Addr, err = stackaddrs.ParsePartialActionInstance(encoded.GetAddress()); err != nil {
		return nil, err
	}
	if resource := encoded.GetResource(); resource != "" || !i.Trigger.IsRequest() {
		if i.Trigger.Resource, err = stackaddrs.ParsePartialResourceInstance(resource); err != nil {
			return nil, err
		}
	}
	if provider := encoded.GetProvider(); provider != "" {
		if i.Provider, err = stackaddrs.ParseProvider(provider); err != nil {
			return nil, err
		}
	}
	i.Config, err = storedvalue.Decode(encoded.GetConfig())
	return i, err
}

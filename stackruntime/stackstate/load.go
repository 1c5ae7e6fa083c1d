// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	statev1 "github.com/cairnstacks/cairn/proto/cairn/state/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// FromRecords makes a state of its records. A record with a nil value is
// ignored. The state may share memory with the records.
//
// Errors, one for each bad record and joined in the order of the keys:
//   - [*RecordError] wrapping [*UnknownKindError]: the state is from a newer version.
//   - [*RecordError]: the record is damaged.
func FromRecords(records map[string][]byte) (*State, error) {
	l := loader{
		state: New(),
		parts: map[stackaddrs.AbsComponentInstance]*moduleParts{},
	}
	var errs []error
	for key, value := range records {
		if value == nil {
			continue
		}
		if err := l.load(key, value); err != nil {
			errs = append(errs, &RecordError{key, err})
		}
	}
	for addr, parts := range l.parts {
		module, err := joinModule(addr, parts.rest, parts.entries)
		if err != nil {
			errs = append(errs, &RecordError{string(ComponentKind) + addr.String(), err})
		}
		l.component(addr).Module = module
	}
	if len(errs) > 0 {
		return nil, joinSorted(errs)
	}
	slices.Sort(l.state.Discarded)
	return l.state, nil
}

// moduleParts are the parts that [joinModule] puts together.
type moduleParts struct {
	rest    json.RawMessage
	entries []tfstate.Entry
}

type loader struct {
	state     *State
	parts     map[stackaddrs.AbsComponentInstance]*moduleParts
	entries   tfstate.EntryReader
	addresses addressCache
}

func (l *loader) load(text string, value []byte) error {
	key, err := l.addresses.parseKey(text)
	if unknown, ok := errors.AsType[*UnknownKindError](err); ok {
		return l.loadUnknown(text, value, unknown)
	}
	if err != nil {
		return err
	}
	switch key.Kind {
	case ComponentKind:
		return l.loadComponent(key, value)
	case ResourceKind:
		entry, err := l.entries.Read(value)
		if err != nil {
			return err
		}
		if entry.Addr != key.Resource || entry.Deposed != key.Deposed {
			return fmt.Errorf("the record is of another object: %s", entry.Addr)
		}
		l.component(key.Component)
		parts := l.partsOf(key.Component)
		parts.entries = append(parts.entries, entry)
		return nil
	case InputKind:
		l.state.Inputs[key.Name], err = decodeRootValue(value)
		return err
	default:
		l.state.Outputs[key.Name], err = decodeRootValue(value)
		return err
	}
}

func (l *loader) loadUnknown(key string, value []byte, unknown *UnknownKindError) error {
	switch unknown.Handling {
	case Preserve:
		if l.state.Preserved == nil {
			l.state.Preserved = map[string][]byte{}
		}
		l.state.Preserved[key] = value
		return nil
	case Discard:
		l.state.Discarded = append(l.state.Discarded, key)
		return nil
	default:
		return unknown
	}
}

// component returns the component instance, which any of its records brings
// into existence.
func (l *loader) component(addr stackaddrs.AbsComponentInstance) *Component {
	c, ok := l.state.Components[addr]
	if !ok {
		c = &Component{Addr: addr}
		l.state.Components[addr] = c
	}
	return c
}

func (l *loader) partsOf(addr stackaddrs.AbsComponentInstance) *moduleParts {
	parts, ok := l.parts[addr]
	if !ok {
		parts = &moduleParts{}
		l.parts[addr] = parts
	}
	return parts
}

func (l *loader) loadComponent(key Key, value []byte) error {
	var record statev1.ComponentInstance
	if err := proto.Unmarshal(value, &record); err != nil {
		return err
	}
	c := l.component(key.Component)
	var err error
	if c.Inputs, err = storedvalue.DecodeMap(record.GetInputs()); err != nil {
		return err
	}
	if c.Outputs, err = storedvalue.DecodeMap(record.GetOutputs()); err != nil {
		return err
	}
	if c.Dependencies, err = l.componentAddrs(record.GetDependencies()); err != nil {
		return err
	}
	if c.Dependents, err = l.componentAddrs(record.GetDependents()); err != nil {
		return err
	}
	if len(record.GetModule()) > 0 {
		l.partsOf(key.Component).rest = record.GetModule()
	}
	return nil
}

// componentAddrs parses the addresses of components. Keys of their own are dropped:
// docs/language.md, section 5. So are components in stacks that stand for those not known yet:
// nothing in a state is in them.
func (l *loader) componentAddrs(names []string) ([]stackaddrs.AbsComponent, error) {
	var addrs []stackaddrs.AbsComponent
	for _, name := range names {
		addr, err := l.addresses.component(name)
		if err != nil {
			if partial, partialErr := stackaddrs.ParsePartialComponentInstance(name); partialErr == nil && partial.String() == name {
				continue
			}
			return nil, err
		}
		addrs = append(addrs, stackaddrs.ComponentOf(addr))
	}
	slices.SortFunc(addrs, stackaddrs.AbsComponent.Compare)
	return slices.Compact(addrs), nil
}

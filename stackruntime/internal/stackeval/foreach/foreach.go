// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package foreach turns for_each arguments into instances. It is the only place that knows which
// values are accepted; the type of an instance is the caller's.
package foreach

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Kind says how much is known of the instances of a block.
type Kind int

// The kinds of expansions.
const (
	Single  Kind = iota // no for_each: exactly one instance, without a key
	Keyed               // the instances are known
	Unknown             // not known before apply
	Failed              // for_each is in error, which its owner reports
)

// Repetition has the values of each.key and each.value in one instance. The zero value is that of a
// block without for_each.
type Repetition struct {
	Key   cty.Value
	Value cty.Value

	// StandIn is set for an instance that stands for ones not known yet.
	StandIn bool
}

// Set is the result of a for_each argument, before instances are made of it.
type Set struct {
	Kind     Kind
	Elements map[string]cty.Value // for Keyed: each.value by key
	Unknown  Repetition           // for Unknown: the known part of any instance
}

// SingleSet is the set of a block without for_each.
var SingleSet = Set{Kind: Single}

// FailedSet is the placeholder for a for_each in error.
var FailedSet = Set{Kind: Failed}

// FromValue checks the value of a for_each argument.
//
// The second argument is the kind of block in messages: "component", "stack", "provider".
func FromValue(result expr.Result, what string) (Set, hcl.Diagnostics) {
	reject := func(summary, format string, args ...any) (Set, hcl.Diagnostics) {
		return FailedSet, hcl.Diagnostics{result.Diagnostic(summary, fmt.Sprintf(format, args...))}
	}

	v := result.Value
	if v.HasMark(expr.Failed) {
		return FailedSet, nil
	}
	isSet := v.Type().IsSetType()
	switch {
	case marks.Has(v, marks.Sensitive): // a set has the marks of its elements
		return reject("for_each cannot be sensitive",
			"The keys of %s instances appear in addresses, which are shown everywhere. "+
				"Use a value that is not sensitive, or make the keys nonsensitive() if they are not secret.", what)
	case marks.Has(v, marks.Ephemeral):
		return reject("for_each cannot be ephemeral",
			"The keys of %s instances are kept in plan and state. Use a value that is not ephemeral.", what)
	}
	v, _ = v.Unmark()

	ty := v.Type()
	switch {
	case v.IsNull():
		return reject("for_each cannot be null",
			"The value decides which %s instances exist. Use an empty map or set for none.", what)
	case !acceptable(v):
		return reject("for_each needs a map, an object or a set of strings",
			"The value is a %s, and %s instances need distinct keys. Use a map, an object, or toset([...]) for a list of strings.",
			ty.FriendlyName(), what)
	case isSet:
		return fromSet(v, what, reject)
	case !v.IsKnown() || !ty.IsMapType() && !ty.IsObjectType():
		return unknownSet(ty), nil // also of known tuples of unknown values: see acceptable
	default:
		return Set{Kind: Keyed, Elements: v.AsValueMap()}, nil
	}
}

// acceptable reports whether the type of v fits, or may do so once it is known.
func acceptable(v cty.Value) bool {
	ty := v.Type()
	if ty.IsMapType() || ty.IsObjectType() || ty.IsSetType() {
		return true
	}
	return !v.IsWhollyKnown() && ty.HasDynamicTypes()
}

func fromSet(v cty.Value, what string, reject func(string, string, ...any) (Set, hcl.Diagnostics)) (Set, hcl.Diagnostics) {
	element := v.Type().ElementType()
	if v.IsKnown() && v.LengthInt() == 0 {
		return Set{Kind: Keyed}, nil
	}
	if element != cty.String && element != cty.DynamicPseudoType {
		return reject("for_each set must hold strings",
			"The set holds values of type %s, and %s instances have strings as keys. Use tostring() on its elements.", element.FriendlyName(), what)
	}
	if !v.IsKnown() {
		return unknownSet(v.Type()), nil
	}
	members := v.AsValueSlice() // once, because package cty sorts the set for it
	if slices.ContainsFunc(members, func(e cty.Value) bool { return !e.IsWhollyKnown() }) {
		return unknownSet(v.Type()), nil
	}
	elements := make(map[string]cty.Value, len(members))
	for _, e := range members {
		if e.IsNull() {
			return reject("for_each cannot contain null",
				"An element of the set is null, and %s instances have strings as keys.", what)
		}
		elements[e.AsString()] = e
	}
	return Set{Kind: Keyed, Elements: elements}, nil
}

func unknownSet(ty cty.Type) Set {
	value := cty.DynamicVal
	if ty.IsMapType() || ty.IsSetType() {
		value = cty.UnknownVal(ty.ElementType())
	}
	return Set{Kind: Unknown, Unknown: Repetition{Key: cty.UnknownVal(cty.String).RefineNotNull(), Value: value}}
}

// StaticRepetition has the values of each.key and each.value while nothing of the instances is
// known, in static checks.
var StaticRepetition = Repetition{Key: cty.UnknownVal(cty.String).RefineNotNull(), Value: cty.DynamicVal}

// Expansion has the instances of a block.
type Expansion[I any] struct {
	Kind      Kind
	Instances map[stackaddrs.InstanceKey]I // for Single and Keyed

	// StandIns stand for the instances of an Unknown set: those that exist
	// already, and one with the wildcard key for all others.
	StandIns map[stackaddrs.InstanceKey]I
}

// Expand makes an instance of each element of the set. existing returns the keys
// that a set which is not known yet most likely has.
func Expand[I any](set Set, existing func() []stackaddrs.InstanceKey, newInstance func(stackaddrs.InstanceKey, Repetition) I) Expansion[I] {
	expansion := Expansion[I]{Kind: set.Kind}
	switch set.Kind {
	case Single:
		expansion.Instances = map[stackaddrs.InstanceKey]I{
			stackaddrs.NoKey: newInstance(stackaddrs.NoKey, Repetition{}),
		}
	case Keyed:
		expansion.Instances = make(map[stackaddrs.InstanceKey]I, len(set.Elements))
		for key, value := range set.Elements {
			addr := stackaddrs.StringKey(key)
			expansion.Instances[addr] = newInstance(addr, Repetition{Key: cty.StringVal(key), Value: value})
		}
	case Unknown:
		expansion.StandIns = make(map[stackaddrs.InstanceKey]I)
		for _, key := range existing() {
			expansion.StandIns[key] = newInstance(key, Repetition{Key: key.Value(), Value: set.Unknown.Value, StandIn: true})
		}
		repetition := set.Unknown
		repetition.StandIn = true
		expansion.StandIns[stackaddrs.WildcardKey] = newInstance(stackaddrs.WildcardKey, repetition)
	case Failed:
	}
	return expansion
}

// Known reports whether the instances are known.
func (e Expansion[I]) Known() bool { return e.Kind == Single || e.Kind == Keyed }

// InOrder iterates over the instances in the order of their keys.
func (e Expansion[I]) InOrder() iter.Seq2[stackaddrs.InstanceKey, I] { return inOrder(e.Instances) }

// WithStandIns is like InOrder; if the instances are not known, it iterates over
// their stand-ins: those that exist already, or if there are none, the one with the wildcard key.
func (e Expansion[I]) WithStandIns() iter.Seq2[stackaddrs.InstanceKey, I] {
	return e.StandInsExcept(func(stackaddrs.InstanceKey) bool { return false })
}

// StandInsExcept is like WithStandIns, without stand-ins whose keys something else claims.
func (e Expansion[I]) StandInsExcept(claimed func(stackaddrs.InstanceKey) bool) iter.Seq2[stackaddrs.InstanceKey, I] {
	if e.Kind != Unknown {
		return e.InOrder()
	}
	left := maps.Clone(e.StandIns)
	maps.DeleteFunc(left, func(key stackaddrs.InstanceKey, _ I) bool { return key.IsWildcard() || claimed(key) })
	if len(left) == 0 {
		left[stackaddrs.WildcardKey] = e.StandIns[stackaddrs.WildcardKey]
	}
	return inOrder(left)
}

// Find returns the instance or stand-in with a key.
func (e Expansion[I]) Find(key stackaddrs.InstanceKey) (inst I, ok bool) {
	if e.Kind == Unknown {
		inst, ok = e.StandIns[key]
		return inst, ok
	}
	inst, ok = e.Instances[key]
	return inst, ok
}

func inOrder[I any](instances map[stackaddrs.InstanceKey]I) iter.Seq2[stackaddrs.InstanceKey, I] {
	return func(yield func(stackaddrs.InstanceKey, I) bool) {
		for _, key := range slices.SortedFunc(maps.Keys(instances), stackaddrs.InstanceKey.Compare) {
			if !yield(key, instances[key]) {
				return
			}
		}
	}
}

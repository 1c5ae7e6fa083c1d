// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Mode is how the instances of a block are told from each other.
type Mode int

// The modes.
const (
	Single Mode = iota
	ByCount
	ByKey
	ByEither // one of the two, of a block that is gone
)

// Expansion is which instances a block has.
type Expansion struct {
	Mode    Mode
	Unknown bool // which ones is not known yet

	// Keys are those of the instances, in the order of the language. Not set if Unknown, but while
	// validating, when there is one (rule V5).
	Keys []stackaddrs.InstanceKey

	values map[string]cty.Value // of each.value, by key
}

// Repetition is the values of each.key, each.value and count.index. The zero value is that of a
// block without instances.
type Repetition struct {
	Mode  Mode
	Key   cty.Value
	Value cty.Value
}

var (
	singleKey   = []stackaddrs.InstanceKey{stackaddrs.NoKey}
	unknownKey  = cty.UnknownVal(cty.String).RefineNotNull()
	unknownSlot = cty.UnknownVal(cty.Number).Refine().NotNull().NumberRangeLowerBound(cty.Zero, true).NewValue()
)

// Has reports whether there is an instance with this key. The wildcard is the key of unknown ones.
func (x Expansion) Has(key stackaddrs.InstanceKey) bool {
	if x.Unknown {
		return key.IsWildcard()
	}
	switch x.Mode {
	case ByKey:
		text, ok := key.AsString()
		return ok && x.values[text] != cty.NilVal
	case ByCount:
		_, found := slices.BinarySearchFunc(x.Keys, key, stackaddrs.InstanceKey.Compare)
		return found
	default:
		return key == stackaddrs.NoKey && len(x.Keys) > 0
	}
}

// Repetition returns the values for one of the instances, those of unknown instances for the
// wildcard key.
func (x Expansion) Repetition(key stackaddrs.InstanceKey) Repetition {
	switch {
	case x.Mode == Single:
		return Repetition{}
	case x.Mode == ByCount && x.Unknown:
		return Repetition{Mode: ByCount, Key: unknownSlot}
	case x.Mode == ByCount:
		return Repetition{Mode: ByCount, Key: key.Value()}
	case x.Unknown:
		return Repetition{Mode: ByKey, Key: unknownKey, Value: cty.DynamicVal}
	default:
		text, _ := key.AsString()
		return Repetition{Mode: ByKey, Key: key.Value(), Value: x.values[text]}
	}
}

// Instances returns the keys of the instances, or the wildcard for those that are not known.
func (x Expansion) Instances() []stackaddrs.InstanceKey {
	if x.Unknown && x.Keys == nil {
		return []stackaddrs.InstanceKey{stackaddrs.WildcardKey}
	}
	return x.Keys
}

// unknownInstances is the expansion of a block in a module whose instances are unknown. All are one
// there, with any keys.
func unknownInstances(repeat module.Repeat) Expansion {
	switch {
	case repeat.Count != nil:
		return Expansion{Mode: ByCount, Unknown: true}
	case repeat.ForEach != nil:
		return Expansion{Mode: ByKey, Unknown: true}
	default:
		return Expansion{Unknown: true}
	}
}

// block is a block that may have several instances.
type block struct {
	module.Repeat
	name string
	at   *hcl.Range
	in   Place // of the count or for_each
}

// expand returns which instances a block has, which is found out once.
func (m *Module) expand(ctx context.Context, known *memo[Expansion], b block) (Expansion, bool) {
	switch {
	case m.Addr.HasWildcard():
		return unknownInstances(b.Repeat), true
	case b.Repeat == (module.Repeat{}):
		return Expansion{Keys: singleKey}, true
	}
	return known.get(ctx, m.eval, m.prefixed(b.name), b.at, func(ctx context.Context) (Expansion, bool) { return m.evalRepeat(ctx, b) })
}

// evalRepeat evaluates the count, for_each or enabled of a block (section 3.6).
func (m *Module) evalRepeat(ctx context.Context, b block) (Expansion, bool) {
	if unexpanded := m.eval.opts.Unexpanded; unexpanded != nil && unexpanded(m.staticPrefixed(b.name)) {
		return unknownInstances(b.Repeat), true
	}
	expr, instances := b.Enabled, m.ifEnabled
	switch { // an override file can have given the block several, of which the first one here is taken
	case b.Count != nil:
		expr, instances = b.Count, m.byCount
	case b.ForEach != nil:
		expr, instances = b.ForEach, m.byKey
	}
	var x Expansion
	result, ok := m.Eval(ctx, expr, b.in)
	if ok {
		var diag *hcl.Diagnostic
		x, diag = instances(result)
		ok = diag == nil || m.eval.Diagnostics.Add(diag)
	}
	if m.eval.opts.Phase == Validate {
		x, ok = unknownInstances(b.Repeat), true
		x.Keys = singleKey
	}
	return x, ok
}

func (m *Module) byCount(result Result) (Expansion, *hcl.Diagnostic) {
	reject := func(detail string) (Expansion, *hcl.Diagnostic) {
		return Expansion{}, result.Error("Invalid count argument", detail)
	}
	if marks.Has(result.Value, marks.Ephemeral) {
		return reject("The number of instances cannot depend on an ephemeral value.")
	}
	value, _ := result.Value.Unmark()
	number, err := convert.Convert(value, cty.Number)
	switch {
	case err != nil:
		return reject("The number of instances must be a number: " + marks.DescribeError(result.Value, err) + ".")
	case number.IsNull():
		return reject("The number of instances is null. A whole number, zero or more, is required.")
	case !number.IsKnown() && m.eval.opts.Deferral:
		return Expansion{Mode: ByCount, Unknown: true}, nil
	case !number.IsKnown():
		return reject("The number of instances depends on values that are known after apply only. Apply the resources that they come from " +
			"first, or make the number depend on known values.")
	}
	n, accuracy := number.AsBigFloat().Int64()
	if accuracy != 0 || n < 0 {
		return reject("The number of instances must be a whole number, zero or more.")
	}
	x := Expansion{Mode: ByCount, Keys: make([]stackaddrs.InstanceKey, n)}
	for i := range x.Keys {
		x.Keys[i] = stackaddrs.IntKey(int64(i))
	}
	return x, nil
}

// ifEnabled returns the single instance of a block, or none.
func (m *Module) ifEnabled(result Result) (Expansion, *hcl.Diagnostic) {
	reject := func(detail string) (Expansion, *hcl.Diagnostic) {
		return Expansion{}, result.Error("Invalid enabled argument", detail)
	}
	value, found := result.Value.Unmark()
	for mark := range found {
		return reject(fmt.Sprintf("The plan shows everybody whether there is an instance, so that this cannot depend on a value that is %s.",
			mark))
	}
	enabled, err := convert.Convert(value, cty.Bool)
	switch {
	case err != nil:
		return reject("The argument must be true or false: " + marks.DescribeError(result.Value, err) + ".")
	case enabled.IsNull():
		return reject("The argument is null. It must be true or false.")
	case !enabled.IsKnown() && m.eval.opts.Deferral:
		return Expansion{Unknown: true}, nil
	case !enabled.IsKnown():
		return reject("Whether there is an instance depends on values that are known after apply only. Apply the resources that they come " +
			"from first, or make the argument depend on known values.")
	case enabled.False():
		return Expansion{}, nil
	}
	return Expansion{Keys: singleKey}, nil
}

func (m *Module) byKey(result Result) (Expansion, *hcl.Diagnostic) {
	reject := func(detail string) *hcl.Diagnostic { return result.Error("Invalid for_each argument", detail) }
	unknown := func() (Expansion, *hcl.Diagnostic) {
		if m.eval.opts.Deferral {
			return Expansion{Mode: ByKey, Unknown: true}, nil
		}
		return Expansion{}, reject("The keys of the instances depend on values that are known after apply only. Apply the resources that they " +
			"come from first, or use keys that are known, with values that need not be.")
	}
	value, found := result.Value.Unmark()
	for mark := range found {
		return Expansion{}, reject(fmt.Sprintf("The keys of instances are shown to everybody, and cannot come from a collection that is %s.",
			mark))
	}
	ty := value.Type()
	switch {
	case ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() && !ty.IsSetType():
		return Expansion{}, reject(fmt.Sprintf("The for_each argument must be a map, or a set of strings. A %s is neither.", ty.FriendlyName()))
	case value.IsNull():
		return Expansion{}, reject("The for_each argument is null. A map, or a set of strings, is required.")
	case !value.IsKnown():
		return unknown()
	case ty.IsSetType() && ty.ElementType() != cty.String && !value.IsWhollyKnown():
		return unknown()
	case ty.IsSetType() && ty.ElementType() != cty.String && value.LengthInt() > 0:
		return Expansion{}, reject(fmt.Sprintf("The for_each argument is a set of %s. Sets must be of strings.", ty.ElementType().FriendlyName()))
	}
	x := Expansion{Mode: ByKey}
	if !ty.IsSetType() {
		x.values = value.AsValueMap()
	} else {
		elements := value.AsValueSlice() // once, because package cty sorts the set for it
		if slices.ContainsFunc(elements, func(element cty.Value) bool { return !element.IsKnown() }) {
			return unknown()
		}
		x.values = make(map[string]cty.Value, len(elements))
		for _, element := range elements {
			if element.IsNull() {
				return Expansion{}, reject("The for_each argument is a set with an element that is null. All elements must be strings.")
			}
			x.values[element.AsString()] = element
		}
	}
	x.Keys = make([]stackaddrs.InstanceKey, 0, len(x.values))
	for _, key := range slices.Sorted(maps.Keys(x.values)) {
		x.Keys = append(x.Keys, stackaddrs.StringKey(key))
	}
	return x, nil
}

// join puts the values of instances together as references to the block see them (section 3.3).
// Instances without a value are not there: maps do not have them, and lists end before them or do
// not know them.
func (x Expansion) join(value func(key stackaddrs.InstanceKey) (cty.Value, bool)) (cty.Value, bool) {
	switch {
	case x.Mode == Single && x.Unknown:
		return cty.DynamicVal, true
	case x.Mode == Single && len(x.Keys) == 0:
		return cty.NullVal(cty.DynamicPseudoType), true
	case x.Mode == Single:
		return value(stackaddrs.NoKey)
	}
	if x.Mode == ByCount {
		elements := make([]cty.Value, 0, len(x.Keys))
		there := 0
		for i, key := range x.Keys {
			element, ok := value(key)
			if !ok {
				return cty.NilVal, false
			}
			if elements = append(elements, element); element != cty.NilVal {
				there = i + 1
			}
		}
		elements = elements[:there]
		for i, element := range elements {
			if element == cty.NilVal {
				elements[i] = cty.UnknownVal(elements[there-1].Type())
			}
		}
		return cty.TupleVal(elements), true
	}
	attributes := make(map[string]cty.Value, len(x.Keys))
	for _, key := range x.Keys {
		element, ok := value(key)
		if !ok {
			return cty.NilVal, false
		}
		if element == cty.NilVal {
			continue
		}
		text, _ := key.AsString()
		attributes[text] = element
	}
	return cty.ObjectVal(attributes), true
}

// RepetitionOf returns the values for an instance of which only the key is known any more: its
// each.value is unknown.
func RepetitionOf(key stackaddrs.InstanceKey) Repetition {
	switch _, text := key.AsString(); {
	case key == stackaddrs.NoKey:
		return Repetition{}
	case text:
		return Repetition{Mode: ByKey, Key: key.Value(), Value: cty.DynamicVal}
	default:
		return Repetition{Mode: ByCount, Key: key.Value()}
	}
}

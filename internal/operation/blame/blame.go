// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package blame finds out since when the attributes of an object in a state have their values, and
// by which operation.
//
// Only the records of the object are read, whatever the number of serials: see
// [statestore.Store.Revisions].
//
// Rules:
//
//   - B1. A value is hidden if it is, or ever was, sensitive: a secret does not become public when
//     its mark is taken away.
//   - B2. Objects and maps are followed to their attributes, lists are compared as a whole. A null
//     attribute is not set.
package blame

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/stored"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Object is an object with the past of its attributes.
type Object struct {
	Address string // of the resource instance with its component, or of the component for its outputs

	// Gone is the serial from which on the state has no such object; nil if it has.
	Gone *statestore.Version

	Attributes []Attribute // by path
}

// Attribute is an attribute of an object, or one that it had.
type Attribute struct {
	Path string // with the names of the objects that it is in, as an expression has them

	// Value is the value in the form of JSON; nil for an attribute that is not there any more. Before
	// is the one that it had before; nil if there was none.
	Value, Before any

	// Sensitive is the tree of those parts of both that no text may show: true for all of it.
	Sensitive any

	Since   statestore.Version // which has written the value, or removed the attribute
	Earlier bool               // it may be older: serials before were dropped
}

// Of returns the objects at an address: the resource instance, or the outputs of a component
// instance and its objects.
func Of(ctx context.Context, states *stored.States, address string) ([]Object, error) {
	component, resource, err := deployment.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	opened, err := states.Existing(ctx)
	if err != nil {
		return nil, err
	}
	var keys []stackstate.Key
	if resource == "" {
		if keys, err = keysOf(ctx, opened, component); err != nil {
			return nil, err
		}
	} else {
		instance, err := stackaddrs.ParseAbsResourceInstance(address)
		if err != nil {
			return nil, err
		}
		keys = []stackstate.Key{{Kind: stackstate.ResourceKind, Component: component, Resource: instance.Item}}
	}
	objects, err := read(ctx, opened, keys)
	if err != nil || len(objects) > 0 {
		return objects, err
	}
	now, err := states.ReadToShow(ctx)
	if err != nil {
		return nil, err
	}
	_, err = now.Find(address)
	return nil, cmp.Or(err, failure.Error("Object not in the state", "The state has nothing at %s.", address))
}

// keysOf returns the keys of the records of a component instance in the state, and of the component
// itself, which may be gone.
func keysOf(ctx context.Context, opened *deployment.Deployment, component stackaddrs.AbsComponentInstance) ([]stackstate.Key, error) {
	snapshot, err := opened.Store.Read(ctx, opened.Name)
	if err != nil {
		return nil, err
	}
	keys := []stackstate.Key{{Kind: stackstate.ComponentKind, Component: component}}
	for text := range snapshot.Records {
		key, err := stackstate.ParseKey(text)
		if err == nil && key.Kind == stackstate.ResourceKind && key.Component == component && key.Deposed == "" {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys[1:], func(a, b stackstate.Key) int { return strings.Compare(a.String(), b.String()) })
	return keys, nil
}

// read reads the past of some records.
func read(ctx context.Context, opened *deployment.Deployment, keys []stackstate.Key) ([]Object, error) {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.String()
	}
	past, err := opened.Store.Revisions(ctx, opened.Name, texts)
	if err != nil || len(past) == 0 {
		return nil, err
	}
	history, err := opened.Store.History(ctx, opened.Name)
	if err != nil {
		return nil, err
	}
	versions := make(map[int64]statestore.Version, len(history))
	for _, version := range history {
		versions[version.Serial] = version
	}
	var objects []Object
	for i, key := range keys {
		if len(past[texts[i]]) == 0 {
			continue
		}
		object, err := objectOf(key, past[texts[i]], versions)
		if err != nil {
			return nil, failure.Error("Unreadable state", "The past of %s cannot be understood: %s.", addressOf(key), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func addressOf(key stackstate.Key) string {
	if key.Kind == stackstate.ComponentKind {
		return key.Component.String()
	}
	return key.Component.String() + "." + key.Resource.String()
}

// objectOf compares the revisions of an object, the oldest first.
func objectOf(key stackstate.Key, past statestore.Revisions, versions map[int64]statestore.Version) (Object, error) {
	object := Object{Address: addressOf(key)}
	known := map[string]*Attribute{}
	for _, revision := range past {
		since := versions[revision.Serial]
		object.Gone = nil
		now := map[string]leaf{}
		if revision.Value == nil {
			object.Gone = &since
		} else if err := leavesOf(key, revision.Value, now); err != nil {
			return object, err
		}
		for path, value := range now {
			attribute := known[path]
			if attribute == nil {
				attribute = &Attribute{Path: path, Sensitive: value.sensitive}
				known[path] = attribute
			}
			attribute.Sensitive = either(attribute.Sensitive, value.sensitive)
			if attribute.Value == nil || !reflect.DeepEqual(attribute.Value, value.value) {
				attribute.take(value.value, since, revision.Earlier)
			}
		}
		for path, attribute := range known {
			if _, ok := now[path]; !ok && attribute.Value != nil {
				attribute.take(nil, since, false)
			}
		}
	}
	for _, attribute := range known {
		if hiddenAbove(known, attribute.Path) {
			attribute.Sensitive = true
		}
		object.Attributes = append(object.Attributes, *attribute)
	}
	slices.SortFunc(object.Attributes, func(a, b Attribute) int { return strings.Compare(a.Path, b.Path) })
	return object, nil
}

// hiddenAbove reports whether an object that an attribute is in was sensitive as a whole (rule B1).
func hiddenAbove(known map[string]*Attribute, path string) bool {
	for i, r := range path {
		if r != '.' && r != '[' {
			continue
		}
		if above := known[path[:i]]; above != nil && above.Sensitive == true {
			return true
		}
	}
	return false
}

// take gives an attribute another value.
func (a *Attribute) take(value any, since statestore.Version, earlier bool) {
	if a.Value != nil {
		a.Before = a.Value
	}
	a.Value, a.Since, a.Earlier = value, since, earlier
}

// leaf is a value that is compared as a whole.
type leaf struct{ value, sensitive any }

// leavesOf reads the values of a record.
func leavesOf(key stackstate.Key, record []byte, into map[string]leaf) error {
	if key.Kind == stackstate.ComponentKind {
		return outputs(key, record, into)
	}
	var reader tfstate.EntryReader
	entry, err := reader.Read(record)
	if err != nil {
		return err
	}
	object, err := entry.Object()
	if err != nil {
		return err
	}
	attributes, err := stateobject.Decode(object)
	if err != nil {
		return err
	}
	for name, value := range attributes.Values {
		flatten(nameText(name, true), value, attributes.Sensitive[name], into)
	}
	return nil
}

// outputs reads those of a component.
func outputs(key stackstate.Key, record []byte, into map[string]leaf) error {
	state, err := stackstate.FromRecords(map[string][]byte{key.String(): record})
	if err != nil {
		return err
	}
	component := state.Components[key.Component]
	if component == nil {
		return errors.New("it has no component")
	}
	for name, value := range component.Outputs {
		if unmarked, _ := value.UnmarkDeep(); unmarked == cty.NilVal || !unmarked.IsWhollyKnown() {
			continue // its apply did not get to it
		}
		flatten(nameText(name, true), terraformjson.Value(value), terraformjson.Sensitive(value), into)
	}
	return nil
}

// flatten adds a value, or the parts of an object (rule B2).
func flatten(path string, value, sensitive any, into map[string]leaf) {
	parts, isObject := value.(map[string]any)
	switch {
	case value == nil:
	case !isObject || len(parts) == 0 || sensitive == true:
		into[path] = leaf{value, sensitive}
	default:
		hidden, _ := sensitive.(map[string]any)
		for name, part := range parts {
			flatten(path+nameText(name, false), part, hidden[name], into)
		}
	}
}

var identifier = regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`)

// nameText writes the name of an attribute at the beginning of a path, or later in it.
func nameText(name string, first bool) string {
	switch {
	case !identifier.MatchString(name):
		return "[" + strconv.Quote(name) + "]"
	case first:
		return name
	}
	return "." + name
}

// either returns the tree of what is sensitive by one tree or the other (rule B1). Two different
// trees of one list hide all of it: its elements need not be the same.
func either(a, b any) any {
	switch {
	case isNothing(a):
		return b
	case isNothing(b) || reflect.DeepEqual(a, b):
		return a
	}
	return true
}

// isNothing reports whether a tree has no sensitive part.
func isNothing(tree any) bool {
	switch tree := tree.(type) {
	case bool:
		return !tree
	case []any:
		return !slices.ContainsFunc(tree, func(part any) bool { return !isNothing(part) })
	case map[string]any:
		for _, part := range tree {
			if !isNothing(part) {
				return false
			}
		}
	}
	return true
}

// IsHidden reports whether any part of the values may not be shown.
func (a *Attribute) IsHidden() bool { return !isNothing(a.Sensitive) }

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package viewtest

import (
	"bytes"
	"encoding/json"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// change reads a change as it stands in a JSON plan of terraform. Parts that are left out of the
// trees of unknown and sensitive marks are neither.
func change(t *testing.T, text string) *engine.Change {
	t.Helper()
	var rc tfjson.ResourceChange
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&rc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	c := &engine.Change{
		Addr: Resource(t, rc.Address), Deposed: stackaddrs.DeposedKey(rc.DeposedKey), Reason: engine.ActionReason(rc.ActionReason),
		Before: Value(rc.Change.Before, nil, rc.Change.BeforeSensitive), After: Value(rc.Change.After, rc.Change.AfterUnknown,
			rc.Change.AfterSensitive),
	}
	if rc.PreviousAddress != "" {
		c.PreviousAddr = Resource(t, rc.PreviousAddress)
	}
	if rc.ProviderName != "" {
		var err error
		if c.Provider, err = stackaddrs.ParseProvider(rc.ProviderName); err != nil {
			t.Fatal(err)
		}
	}
	for i, action := range rc.Change.Actions {
		if i > 0 {
			c.Action += "/"
		}
		c.Action += engine.Action(action)
	}
	for _, steps := range rc.Change.ReplacePaths {
		c.Replace = append(c.Replace, Path(steps))
	}
	if rc.Change.Importing != nil {
		c.Importing = &engine.Importing{ID: rc.Change.Importing.ID}
	}
	return c
}

// Resource parses the address of a resource instance, in which "[*]" may stand for keys not known
// yet.
func Resource(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	addr, err := stackaddrs.ParsePartialResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Path makes a path of names and indexes.
func Path(steps any) cty.Path {
	path := cty.Path{}
	for _, step := range steps.([]any) {
		switch step := step.(type) {
		case string:
			path = path.GetAttr(step)
		case json.Number:
			path = path.Index(cty.MustParseNumberVal(step.String()))
		}
	}
	return path
}

// Value makes a value of the three parallel trees that JSON has for it: its known parts, where it
// is unknown, and where it is sensitive.
func Value(known, unknown, sensitive any) cty.Value {
	v := bareValue(known, unknown, sensitive)
	if sensitive == true {
		v, _ = v.UnmarkDeep()
		return v.Mark(marks.Sensitive)
	}
	return v
}

func bareValue(known, unknown, sensitive any) cty.Value {
	if unknown == true {
		return cty.DynamicVal
	}
	switch known := known.(type) {
	case string:
		return cty.StringVal(known)
	case bool:
		return cty.BoolVal(known)
	case json.Number:
		return cty.MustParseNumberVal(known.String())
	case float64:
		return cty.NumberFloatVal(known)
	case map[string]any:
		return objectValue(known, unknown, sensitive)
	case []any:
		return listValue(known, unknown, sensitive)
	}
	if object, ok := unknown.(map[string]any); ok && len(object) > 0 {
		return objectValue(nil, unknown, sensitive)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

func objectValue(known map[string]any, unknown, sensitive any) cty.Value {
	unknownParts, _ := unknown.(map[string]any)
	sensitiveParts, _ := sensitive.(map[string]any)
	attrs := map[string]cty.Value{}
	for name := range unknownParts {
		attrs[name] = Value(known[name], unknownParts[name], sensitiveParts[name])
	}
	for name, part := range known {
		attrs[name] = Value(part, unknownParts[name], sensitiveParts[name])
	}
	return cty.ObjectVal(attrs)
}

func listValue(known []any, unknown, sensitive any) cty.Value {
	at := func(list any, i int) any {
		if list, _ := list.([]any); i < len(list) {
			return list[i]
		}
		return nil
	}
	unknownParts, _ := unknown.([]any)
	elements := make([]cty.Value, max(len(known), len(unknownParts)))
	for i := range elements {
		elements[i] = Value(at(known, i), at(unknown, i), at(sensitive, i))
	}
	return cty.TupleVal(elements)
}

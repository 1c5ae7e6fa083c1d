// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// The properties that a console cannot show: the marks of unknown values, and refinements.
func TestUnknownAndMarkedValues(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	hidden := func(v cty.Value) cty.Value { return v.Mark(marks.Sensitive) }
	fleeting := func(v cty.Value) cty.Value { return v.Mark(marks.Ephemeral) }
	scope := &hcl.EvalContext{
		Functions: Functions(Options{}),
		Variables: map[string]cty.Value{
			"unknown":          unknown,
			"any":              cty.DynamicVal,
			"hidden_any":       hidden(cty.DynamicVal),
			"hidden_list":      hidden(cty.UnknownVal(cty.List(cty.String))),
			"hidden_name":      hidden(cty.StringVal("a")),
			"list":             cty.UnknownVal(cty.List(cty.String)),
			"prefixed":         unknown.Refine().StringPrefix("pre-").NewValue(),
			"hidden_unknown":   hidden(unknown),
			"fleeting_unknown": fleeting(unknown),
			"fleeting_any":     fleeting(cty.DynamicVal),
			"both":             hidden(fleeting(cty.StringVal("x"))),
			"fleeting":         fleeting(cty.StringVal("x")),
			"hidden_map":       hidden(cty.MapVal(map[string]cty.Value{"a": fleeting(cty.StringVal("x"))})),
			"template":         hidden(cty.StringVal("<${x}>")),
		},
	}
	tests := map[string]cty.Value{
		`sensitive(unknown)`:                hidden(unknown),
		`sensitive(fleeting)`:               both(cty.StringVal("x")),
		`nonsensitive(hidden_unknown)`:      unknown,
		`nonsensitive(both)`:                fleeting(cty.StringVal("x")),
		`issensitive(unknown)`:              cty.UnknownVal(cty.Bool),
		`issensitive(fleeting)`:             cty.False,
		`issensitive(hidden_unknown)`:       cty.True,
		`ephemeralasnull(fleeting_unknown)`: unknown,
		`ephemeralasnull(fleeting_any)`:     cty.DynamicVal,
		`ephemeralasnull(both)`:             hidden(cty.NullVal(cty.String)),
		`ephemeralasnull(hidden_map)`:       hidden(cty.MapVal(map[string]cty.Value{"a": cty.NullVal(cty.String)})),
		`lookup(hidden_map, "a", "d")`:      both(cty.StringVal("x")),
		`lookup(hidden_map, "z", "d")`:      hidden(cty.StringVal("d")),
		`length(hidden_map)`:                hidden(cty.NumberIntVal(1)),
		`length([fleeting])`:                cty.NumberIntVal(1),
		`length(list)`: cty.UnknownVal(cty.Number).Refine().NotNull().
			NumberRangeInclusive(cty.Zero, cty.NumberIntVal(9223372036854775807)).NewValue(),
		`startswith(prefixed, "pre-")`:               cty.True,
		`startswith(prefixed, "x")`:                  cty.False,
		`startswith(prefixed, "pre-x")`:              cty.UnknownVal(cty.Bool).RefineNotNull(),
		`upper(hidden_unknown)`:                      hidden(cty.UnknownVal(cty.String).RefineNotNull()),
		`base64encode(unknown)`:                      cty.UnknownVal(cty.String).RefineNotNull(),
		`coalesce(unknown, "x")`:                     cty.UnknownVal(cty.String).RefineNotNull(),
		`file(fleeting_unknown)`:                     fleeting(cty.UnknownVal(cty.String).RefineNotNull()),
		`element(hidden_list, 0)`:                    hidden(unknown),
		`keys(hidden_any)`:                           hidden(cty.DynamicVal),
		`merge(hidden_any, {})`:                      hidden(cty.DynamicVal),
		`lookup({ a = 1 }, hidden_unknown, 2)`:       hidden(cty.DynamicVal),
		`lookup(any, hidden_name, 2)`:                hidden(cty.DynamicVal),
		`fileset(fleeting_unknown, "*")`:             fleeting(cty.UnknownVal(cty.Set(cty.String)).RefineNotNull()),
		`templatefile(hidden_unknown, {})`:           hidden(cty.DynamicVal),
		`templatefile(hidden_name, any)`:             hidden(cty.DynamicVal),
		`templatestring(template, any)`:              hidden(cty.UnknownVal(cty.String).RefineNotNull()),
		`textdecodebase64(hidden_unknown, "UTF-8")`:  hidden(cty.UnknownVal(cty.String).RefineNotNull()),
		`one([fleeting])`:                            fleeting(cty.StringVal("x")),
		`templatestring(template, { x = fleeting })`: both(cty.StringVal("<x>")),
		`tostring(any)`:                              cty.UnknownVal(cty.String),
		`tostring(hidden_unknown)`:                   hidden(unknown),
		`tolist([fleeting])`:                         cty.ListVal([]cty.Value{fleeting(cty.StringVal("x"))}),
	}
	for source, want := range tests {
		t.Run(source, func(t *testing.T) {
			if got := evaluateValue(t, scope, source); !got.RawEquals(want) {
				t.Errorf("got %#v, want %#v", got, want)
			}
		})
	}
}

func both(v cty.Value) cty.Value { return v.Mark(marks.Sensitive).Mark(marks.Ephemeral) }

// Rule L3. Every function is called with marked nonsense in every place, and its messages about it
// must not quote it.
func TestMessagesHideMarkedArguments(t *testing.T) {
	const secret = "s3cr3t(%d)*["
	arguments := []cty.Value{
		cty.StringVal(secret),
		cty.ListVal([]cty.Value{cty.StringVal(secret)}),
		cty.MapVal(map[string]cty.Value{secret: cty.StringVal(secret)}),
		cty.MapVal(map[string]cty.Value{"k": cty.ListVal([]cty.Value{cty.StringVal(secret)})}),
		cty.NumberIntVal(1),
		cty.StringVal("1"),
		cty.StringVal("2020-01-01T00:00:00Z"),
		cty.StringVal("10.0.0.0/8"),
	}
	table := Functions(Options{BaseDir: t.TempDir()})
	for _, name := range slices.Sorted(maps.Keys(table)) {
		f := table[name]
		if strings.HasPrefix(name, corePrefix) || name == "try" || name == "can" || name == "templatestring" || name == "bcrypt" {
			continue // the same again; not to be called with values; slow
		}
		count := len(f.Params())
		if f.VarParam() != nil {
			count++
		}
		for _, args := range tuples(arguments, count) {
			for i := range args {
				if strings.Contains(args[i].GoString(), "s3cr3t") {
					args[i] = args[i].Mark(marks.Sensitive)
				}
			}
			if !convertArguments(f, args) {
				continue
			}
			if _, err := f.Call(args); err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s(%#v) fails with: %s", name, args, err)
				break
			}
		}
	}
}

// convertArguments converts arguments to the types of the parameters, as HCL does, in place. It
// reports whether they convert: others never reach a function.
func convertArguments(f function.Function, args []cty.Value) bool {
	params := parametersOf(f)
	for i, arg := range args {
		converted, err := convert.Convert(arg, params.at(i).Type)
		if err != nil {
			return false
		}
		args[i] = converted
	}
	return true
}

func tuples(values []cty.Value, length int) [][]cty.Value {
	if length == 0 {
		return [][]cty.Value{nil}
	}
	var all [][]cty.Value
	for _, shorter := range tuples(values, length-1) {
		for _, value := range values {
			all = append(all, append(slices.Clone(shorter), value))
		}
	}
	return all
}

func TestHiddenPathsInMessages(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "s3cr3t"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{"s3cr3t/x": "", "number.tftpl": "${tonumber(x)}"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	scope := &hcl.EvalContext{
		Functions: Functions(Options{BaseDir: dir}),
		Variables: map[string]cty.Value{
			"hidden":     cty.StringVal("s3cr3t").Mark(marks.Sensitive),
			"fleeting":   cty.StringVal("s3cr3t").Mark(marks.Ephemeral),
			"template":   cty.StringVal("${s3cr3t").Mark(marks.Sensitive),
			"needy":      cty.StringVal("${s3cr3t}").Mark(marks.Sensitive),
			"secret_map": cty.MapVal(map[string]cty.Value{"s3cr3t !": cty.True}).Mark(marks.Sensitive),
			"number":     cty.StringVal("${tonumber(x)}"),
		},
	}
	for source, want := range map[string]string{
		`file(hidden)`:                                 "cannot read (sensitive value): it is not an ordinary file",
		`file(fleeting)`:                               "cannot read (ephemeral value): it is not an ordinary file",
		`file("${hidden}x")`:                           "no file exists at (sensitive value)",
		`filesha256(hidden)`:                           "cannot read (sensitive value)",
		`fileexists(hidden)`:                           "(sensitive value) is a directory, not a file",
		`templatefile(hidden, {})`:                     "cannot read (sensitive value)",
		`tonumber(hidden)`:                             "cannot convert this string to number",
		`templatestring(needy, {})`:                    "the details are hidden",
		`templatefile("number.tftpl", secret_map)`:     "(sensitive value) cannot be the name",
		`templatestring(number, { x = hidden })`:       "the details are hidden",
		`templatefile("number.tftpl", { x = hidden })`: "number.tftpl:1,12-13: the template fails there",
		`templatestring(template, {})`:                 "the details are hidden",
		`lookup({ a = 1 }, hidden)`:                    "no attribute (sensitive value)",
		`base64decode(hidden)`:                         "(sensitive value) is not Base64",
		`rsadecrypt("", fleeting)`:                     "not a private key",
	} {
		_, diags := parseExpression(t, source).Value(scope)
		if !diags.HasErrors() {
			t.Errorf("%s succeeds, want an error", source)
			continue
		}
		if detail := diags[0].Detail; !strings.Contains(detail, want) || strings.Contains(detail, "s3cr3t") {
			t.Errorf("%s: got message %q, want one with %q and without the value", source, detail, want)
		}
	}
}

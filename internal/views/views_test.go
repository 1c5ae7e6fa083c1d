// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"

	"github.com/cairnstacks/cairn/stackaddrs"
)

func TestWriteState(t *testing.T) {
	var b strings.Builder
	if err := WriteState(&b, viewtest.State(t), Options{}); err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, "state.txt", b.String())
}

func TestWritePartsOfState(t *testing.T) {
	state := viewtest.State(t)
	component := state.Components[viewtest.Instance(t, `stack.inner["x"].component.db["a"]`)]
	var whole, part, one strings.Builder
	if err := WriteState(&whole, state, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteComponentState(&part, component, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(whole.String(), part.String()) {
		t.Errorf("the text of the component is not part of that of the state:\n%s", part.String())
	}
	objects, err := tfstate.ParseObjects(component.Module)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteResourceState(&one, objects[0], Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(part.String(), one.String()) {
		t.Errorf("the text of the object is not part of that of the component:\n%s", one.String())
	}
}

func TestWriteStateThatIsEmptyOrBroken(t *testing.T) {
	var b strings.Builder
	if err := WriteState(&b, stackstate.New(), Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "The state is empty: nothing was applied yet, or all was destroyed.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	b.Reset()
	state := viewtest.State(t)
	state.Components[viewtest.Instance(t, "component.net")].Module = engine.State("{")
	if err := WriteState(&b, state, Options{}); err == nil || b.Len() > 0 {
		t.Errorf("a broken state gives error %v and text %q, want an error and no text", err, b.String())
	}
}

func TestWriteOutputs(t *testing.T) {
	var b strings.Builder
	if err := WriteOutputs(&b, viewtest.State(t).Outputs, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `all = tomap({
  "a b" = toset([
    1,
    2,
  ])
})
secret = {
  "k" = "v"
  "pw" = (sensitive value)
}
single = true
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	if err := WriteOutput(&b, cty.StringVal("x").Mark(marks.Sensitive)); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "<sensitive>\n" {
		t.Errorf("a sensitive output is written as %q", got)
	}
}

func TestFormatValue(t *testing.T) {
	tests := map[string]struct {
		value cty.Value
		want  string
	}{
		"no value":       {cty.NilVal, "null"},
		"string":         {cty.StringVal(`a"b`), `"a\"b"`},
		"number":         {cty.MustParseNumberVal("1e20"), "100000000000000000000"},
		"fraction":       {cty.NumberFloatVal(1.5), "1.5"},
		"bool":           {cty.False, "false"},
		"control":        {cty.StringVal("a\n\x1b[2J"), `"a\n\x1b[2J"`},
		"lines":          {cty.StringVal("a\nb\n"), "<<EOT\na\nb\n\nEOT"},
		"lines in a map": {cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x\ny")}), "tomap({\n  \"a\" = <<-EOT\n  x\n  y\n  EOT\n})"},
		"null":           {cty.NullVal(cty.DynamicPseudoType), "null"},
		"null string":    {cty.NullVal(cty.String), "tostring(null)"},
		"null number":    {cty.NullVal(cty.Number), "tonumber(null)"},
		"null list":      {cty.NullVal(cty.List(cty.String)), "tolist(null) /* of string */"},
		"null set":       {cty.NullVal(cty.Set(cty.String)), "toset(null) /* of string */"},
		"null map":       {cty.NullVal(cty.Map(cty.Bool)), "tomap(null) /* of bool */"},
		"null object":    {cty.NullVal(cty.EmptyObject), "null /* object */"},
		"empty list":     {cty.ListValEmpty(cty.String), "tolist([])"},
		"empty set":      {cty.SetValEmpty(cty.String), "toset([])"},
		"empty map":      {cty.MapValEmpty(cty.String), "tomap({})"},
		"empty object":   {cty.EmptyObjectVal, "{}"},
		"empty tuple":    {cty.EmptyTupleVal, "[]"},
		"list":           {cty.ListVal([]cty.Value{cty.Zero}), "tolist([\n  0,\n])"},
		"nested": {cty.ObjectVal(map[string]cty.Value{"b": cty.EmptyTupleVal, "a b": cty.TupleVal([]cty.Value{cty.True})}), "{\n  \"a " +
			"b\" = [\n    true,\n  ]\n  \"b\" = []\n}"},
		"sensitive":    {cty.StringVal("x").Mark(marks.Sensitive), "(sensitive value)"},
		"ephemeral":    {cty.StringVal("x").Mark(marks.Ephemeral), "(ephemeral value)"},
		"another mark": {cty.StringVal("x").Mark("other"), "(sensitive value)"},
		"unknown":      {cty.UnknownVal(cty.String), "(known after apply)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FormatValue(test.value); got != test.want {
				t.Errorf("FormatValue(%#v)\n got %s\nwant %s", test.value, got, test.want)
			}
		})
	}
}

func TestRawOutput(t *testing.T) {
	tests := map[string]struct {
		value cty.Value
		want  string
		err   error
	}{
		"string":    {cty.StringVal("a\n").Mark(marks.Sensitive), "a\n", nil},
		"number":    {cty.NumberFloatVal(0.5), "0.5", nil},
		"bool":      {cty.True, "true", nil},
		"null":      {cty.NullVal(cty.String), "", ErrRawNull},
		"unknown":   {cty.UnknownVal(cty.String), "", ErrRawUnknown},
		"composite": {cty.EmptyTupleVal, "", errors.ErrUnsupported},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := RawOutput(test.value)
			switch {
			case errors.Is(test.err, errors.ErrUnsupported):
				if err == nil || !strings.Contains(err.Error(), "tuple") {
					t.Errorf("RawOutput(%#v): error %v, want one that names the type", test.value, err)
				}
			case got != test.want || !errors.Is(err, test.err):
				t.Errorf("RawOutput(%#v) = %q, %v, want %q, %v", test.value, got, err, test.want, test.err)
			}
		})
	}
}

func applySummaries(t *testing.T) map[string]ApplySummary {
	t.Helper()
	net, db, app := viewtest.Instance(t, "component.net"), viewtest.Instance(t, "component.db"), viewtest.Instance(t, "component.app")
	done := ComponentResult{Addr: net, Status: hooks.Applied, Counts: stackplan.Counts{Add: 7, Change: 1}}
	return map[string]ApplySummary{
		"complete":  {Components: []ComponentResult{done}},
		"destroyed": {Destroy: true, Components: []ComponentResult{{Addr: net, Status: hooks.Applied, Counts: stackplan.Counts{Remove: 2}}}},
		"deferred":  {Components: []ComponentResult{done, {Addr: app, Status: hooks.Deferred}}},
		"failed": {Failed: true, Components: []ComponentResult{
			{Addr: app, Status: hooks.Skipped, Because: []stackaddrs.AbsComponentInstance{net, db}},
			done,
			{Addr: db, Status: hooks.Failed, Counts: stackplan.Counts{Add: 1}},
		}},
		"interrupted": {Interrupted: true, Components: []ComponentResult{
			done, {Addr: db, Status: hooks.Interrupted}, {Addr: app, Status: hooks.Pending},
		}},
		"saved": {Interrupted: true, Next: "cairn apply stack.plan", Components: []ComponentResult{done, {Addr: db, Status: hooks.Interrupted}}},
	}
}

func TestWriteApplySummary(t *testing.T) {
	for name, summary := range applySummaries(t) {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteApplySummary(&b, summary, Options{}); err != nil {
				t.Fatal(err)
			}
			viewtest.Golden(t, "apply/"+name+".txt", b.String())
		})
	}
}

func TestSecretsStayHidden(t *testing.T) {
	plan, state := viewtest.Plan(t), viewtest.State(t)
	for name, write := range map[string]func(*strings.Builder) error{
		"plan":          func(b *strings.Builder) error { return WritePlan(b, plan, Options{}) },
		"coloured plan": func(b *strings.Builder) error { return WritePlan(b, plan, Options{Color: true}) },
		"state":         func(b *strings.Builder) error { return WriteState(b, state, Options{}) },
		"outputs":       func(b *strings.Builder) error { return WriteOutputs(b, state.Outputs, Options{}) },
		"component outputs": func(b *strings.Builder) error {
			for _, c := range state.Components {
				for _, v := range c.Outputs {
					if err := WriteOutput(b, v); err != nil {
						return err
					}
				}
			}
			return nil
		},
		"planned values": func(b *strings.Builder) error {
			for _, c := range plan.Components {
				for _, v := range c.Inputs {
					b.WriteString(FormatValue(v))
				}
				for _, v := range c.Outputs {
					b.WriteString(FormatValue(v))
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), "sensitive") {
				t.Errorf("no secret is mentioned:\n%s", b.String())
			}
			for _, secret := range viewtest.Secrets() {
				if strings.Contains(b.String(), secret) {
					t.Errorf("%q is shown", secret)
				}
			}
		})
	}
}

// On a narrow terminal, the lists of components by outcome break between words; instances of one
// component that others wait for are named together.
func TestWriteApplySummaryOnNarrowTerminal(t *testing.T) {
	east, west, app := viewtest.Instance(t, `component.lambda["east"]`), viewtest.Instance(t, `component.lambda["west"]`),
		viewtest.Instance(t, "component.app")
	summary := ApplySummary{Failed: true, Components: []ComponentResult{
		{Addr: east, Status: hooks.Failed, Counts: stackplan.Counts{Add: 1}},
		{Addr: west, Status: hooks.Failed},
		{Addr: app, Status: hooks.Skipped, Because: []stackaddrs.AbsComponentInstance{west, east, viewtest.Instance(t, `component.net["a"]`)}},
	}}
	var b strings.Builder
	if err := WriteApplySummary(&b, summary, Options{Width: 50}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Failed:\n  component.lambda[\"east\"] (1 added, 0 changed,\n    0 destroyed)\n  component.lambda[\"west\"]\n",
		"Skipped:\n  component.app (because of component.lambda,\n    component.net[\"a\"])\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks\n%s\nbut is\n%s", want, b.String())
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// WriteState writes a whole state for a person. It fails if the state of a
// module cannot be read; then nothing is written.
func WriteState(w io.Writer, state *stackstate.State, options Options) error {
	p := newPage(options)
	if len(state.Components) == 0 && len(state.Outputs) == 0 {
		p.paragraph("The state is empty: nothing was applied yet, or all was destroyed.")
	}
	for _, c := range state.SortedComponents() {
		if err := p.component(c); err != nil {
			return fmt.Errorf("%s: %w", c.Addr, err)
		}
	}
	p.stateOutputs("Outputs of the stack:", state.Outputs)
	return p.writeTo(w)
}

// WriteComponentState writes the state of a component instance.
func WriteComponentState(w io.Writer, c *stackstate.Component, options Options) error {
	p := newPage(options)
	if err := p.component(c); err != nil {
		return fmt.Errorf("%s: %w", c.Addr, err)
	}
	return p.writeTo(w)
}

// WriteResourceState writes one resource instance object of a state.
func WriteResourceState(w io.Writer, object tfstate.Object, options Options) error {
	p := newPage(options)
	if err := p.object(object); err != nil {
		return err
	}
	return p.writeTo(w)
}

func (p *page) component(c *stackstate.Component) error {
	module, err := tfstate.Parse(c.Module)
	if err != nil {
		return err
	}
	objects, err := module.Objects()
	if err != nil {
		return err
	}
	p.section(c.Addr.String())
	if len(objects) == 0 {
		p.printf("%s\n\n", p.Dim("# (no resources)"))
	}
	for _, object := range objects {
		if err := p.object(object); err != nil {
			return err
		}
	}
	p.stateOutputs("Outputs:", c.Outputs)
	checks, err := module.Checks()
	if err != nil {
		return err
	}
	p.stateChecks(checks)
	return nil
}

func (p *page) object(object tfstate.Object) error {
	attributes, err := stateobject.Decode(object)
	if err != nil {
		return err
	}
	title := object.Addr.String() + ":"
	if object.Deposed != "" {
		title += " (deposed object " + string(object.Deposed) + ")"
	}
	if object.Tainted {
		title += " (tainted)"
	}
	word := "resource"
	if object.Addr.Resource.Mode == stackaddrs.DataResource {
		word = "data"
	}
	p.printf("%s\n%s %s %s {\n", p.Dim("# "+title), word, valuediff.Quote(object.Addr.Resource.Type),
		valuediff.Quote(object.Addr.Resource.Name))
	value := valuediff.FromJSON(attributes.Values, attributes.Sensitive)
	p.WriteString(valuediff.Attributes(valuediff.Change{Before: value, After: value}, valuediff.Options{
		Style: p.Style, Indent: 4, Plain: true, Full: true,
	}))
	p.printf("}\n\n")
	return nil
}

func (p *page) stateOutputs(title string, values map[string]cty.Value) {
	if len(values) == 0 {
		return
	}
	p.section(title)
	p.named(values)
	p.printf("\n")
}

// named writes values under their names, aligned.
func (p *page) named(values map[string]cty.Value) {
	names := slices.Sorted(maps.Keys(values))
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for _, name := range names {
		value := valuediff.FromCty(values[name])
		p.WriteString(valuediff.Named(name, width, valuediff.Change{Before: value, After: value}, valuediff.Options{
			Style: p.Style, Plain: true, Full: true,
		}))
	}
}

// WriteOutputs writes output values as the output command does, sorted by name.
func WriteOutputs(w io.Writer, values map[string]cty.Value, options Options) error {
	p := newPage(options)
	if len(values) == 0 {
		p.paragraph("There are no outputs: the configuration has none, or nothing was applied yet.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p.printf("%s = %s\n", name, outputText(values[name]))
	}
	return p.writeTo(w)
}

// WriteOutput writes one output value.
func WriteOutput(w io.Writer, v cty.Value) error {
	_, err := io.WriteString(w, outputText(v)+"\n")
	return err
}

func outputText(v cty.Value) string {
	if v != cty.NilVal && v.IsMarked() {
		return "<sensitive>"
	}
	return formatter{valuediff.NotKnown}.text(v)
}

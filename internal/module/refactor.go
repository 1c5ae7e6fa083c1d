// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

var (
	movedSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "from", Required: true},
		{Name: "to", Required: true},
	}}
	removedSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}}},
	}
	removedLifecycleSchema = schemaOf("destroy")
	importSchema           = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "to", Required: true}, {Name: "id"}, {Name: "identity"}, {Name: "for_each"}, {Name: "provider"},
	}}
)

func (d *decoder) moved(block *hcl.Block) {
	if d.override {
		d.notOverridable(block)
		return
	}
	content, diags := block.Body.Content(movedSchema)
	d.add(diags)
	from, ok1 := d.moveEnd(content.Attributes["from"])
	to, ok2 := d.moveEnd(content.Attributes["to"])
	if !ok1 || !ok2 {
		return
	}
	if (from.Resource == nil) != (to.Resource == nil) {
		d.problem(block.DefRange, "Move between different kinds", "Both ends of a move are resources, or both are module calls.")
		return
	}
	d.dir.Moved = append(d.dir.Moved, &Moved{From: from, To: to, Range: block.DefRange})
}

// moveEnd decodes an address that is relative to the module.
func (d *decoder) moveEnd(attr *hcl.Attribute) (MoveEnd, bool) {
	if attr == nil {
		return MoveEnd{}, false
	}
	traversal, diags := hcl.AbsTraversalForExpr(attr.Expr)
	d.add(diags)
	if diags.HasErrors() {
		return MoveEnd{}, false
	}
	a := &addressReader{steps: traversal, end: MoveEnd{Range: attr.Expr.Range()}}
	a.read()
	if a.mistake != "" {
		d.problem(attr.Expr.Range(), "Invalid object address", a.mistake)
		return MoveEnd{}, false
	}
	return a.end, true
}

// addressReader reads an address from a traversal.
type addressReader struct {
	steps   hcl.Traversal
	end     MoveEnd
	mistake string
}

func (a *addressReader) read() {
	for len(a.steps) > 0 && a.mistake == "" {
		switch name := a.name(); name {
		case "module":
			a.end.Module = append(a.end.Module, MoveStep{Name: a.name(), Key: a.key()})
		default:
			a.resource(name)
			return
		}
	}
}

func (a *addressReader) resource(first string) {
	r := stackaddrs.Resource{Type: first}
	switch first {
	case "data":
		r.Mode, r.Type = stackaddrs.DataResource, a.name()
	case "ephemeral":
		r.Mode, r.Type = stackaddrs.EphemeralResource, a.name()
	case "resource":
		r.Type = a.name()
	case "var", "local", "each", "count", "path", "terraform", "self", "output", "check":
		a.mistake = "An address names a resource, like TYPE.NAME, or a module call, like module.NAME."
	}
	r.Name = a.name()
	a.end.Resource, a.end.Key = &r, a.key()
	if len(a.steps) > 0 && a.mistake == "" {
		a.mistake = "The address of a resource ends with its name, or with the key of an instance."
	}
}

func (a *addressReader) name() string {
	if len(a.steps) > 0 {
		switch step := a.steps[0].(type) {
		case hcl.TraverseRoot:
			a.steps = a.steps[1:]
			return step.Name
		case hcl.TraverseAttr:
			a.steps = a.steps[1:]
			return step.Name
		}
	}
	if a.mistake == "" {
		a.mistake = "An address names a resource, like TYPE.NAME, or a module call, like module.NAME. A part of it is missing."
	}
	return ""
}

func (a *addressReader) key() stackaddrs.InstanceKey {
	if len(a.steps) == 0 {
		return stackaddrs.NoKey
	}
	index, ok := a.steps[0].(hcl.TraverseIndex)
	if !ok {
		return stackaddrs.NoKey
	}
	a.steps = a.steps[1:]
	key, ok := stackaddrs.KeyFromValue(index.Key)
	if !ok && a.mistake == "" {
		a.mistake = "The key of an instance is a string or a whole number."
	}
	return key
}

// AddressText returns an address that is written as a traversal, the same for all ways to write it.
func AddressText(traversal hcl.Traversal) string {
	var text strings.Builder
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			text.WriteString(step.Name)
		case hcl.TraverseAttr:
			text.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			key, _ := stackaddrs.KeyFromValue(step.Key)
			text.WriteString(key.String())
		}
	}
	return text.String()
}

func (d *decoder) removed(block *hcl.Block) {
	content, diags := block.Body.Content(removedSchema)
	d.add(diags)
	r := &Removed{Destroy: true, Range: block.DefRange}
	from, ok := d.moveEnd(content.Attributes["from"])
	r.From = from
	first := map[string]*hcl.Block{}
	for _, nested := range content.Blocks {
		if first[nested.Type] != nil && nested.Type != "provisioner" {
			d.twice(nested, first[nested.Type])
			continue
		}
		first[nested.Type] = nested
		switch nested.Type {
		case "lifecycle":
			inner, diags := nested.Body.Content(removedLifecycleSchema)
			d.add(diags)
			d.fixed(inner, "destroy", &r.Destroy)
		case "connection":
			r.Connection = d.connection(nested)
		default:
			r.Provisioners = append(r.Provisioners, d.removedProvisioner(nested))
		}
	}
	if !ok {
		return
	}
	if from.Resource == nil && first["provisioner"] != nil {
		d.problem(first["provisioner"].DefRange, "Provisioner of a module", "Only removed resources have provisioners.")
	}
	d.checkRemovedAddress(r)
	d.dir.Removed = append(d.dir.Removed, r)
}

func (d *decoder) removedProvisioner(block *hcl.Block) *Provisioner {
	p := d.provisioner(block)
	if !p.Destroy {
		d.problem(block.DefRange, "Provisioner never run", fmt.Sprintf("A removed resource is only ever destroyed, so its provisioners have "+
			"the argument when = destroy. This one, of type %q, has not.", p.Type))
	}
	return p
}

func (d *decoder) checkRemovedAddress(r *Removed) {
	keyed := r.From.Key != stackaddrs.NoKey
	for _, step := range r.From.Module {
		keyed = keyed || step.Key != stackaddrs.NoKey
	}
	switch {
	case keyed:
		d.problem(r.From.Range, "Instance key in removed block", "A removed block is about all instances. Leave out the keys.")
	case r.From.Resource != nil && r.From.Resource.Mode != stackaddrs.ManagedResource:
		d.problem(r.From.Range, "Removal without objects", "Only managed resources have objects to be destroyed or forgotten. Of others, the "+
			"block is deleted.")
	}
}

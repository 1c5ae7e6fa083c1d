// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Provisioners run the provisioner blocks of new objects, or of those that are to be destroyed.
// Safe for concurrent use.
type Provisioners interface {
	// Provision runs one provisioner. It returns soon after Stop.
	Provision(ctx context.Context, req *ProvisionRequest) hcl.Diagnostics
}

// ProvisionRequest is one provisioner to run, with the setting of its object.
type ProvisionRequest struct {
	Config     *module.Provisioner
	Connection *module.Connection // that of the resource, for which the provisioner's own stands in where it says something; nil without one

	// Module and Place are where the arguments are evaluated. Self is the object.
	Module *eval.Module
	Place  eval.Place

	Observe engine.Observer // or nil
	Stop    <-chan struct{} // closed when the work is to end soon
}

// provisioning is the provisioners to run for an object, and their setting.
type provisioning struct {
	target     *resource.Target
	all        []*module.Provisioner
	connection *module.Connection
	module     *eval.Module
	at         eval.Place
	deposed    stackaddrs.DeposedKey
}

// created runs the creation provisioners of a new object, and reports whether they succeeded.
// Otherwise the object is tainted.
func (a *applier) created(ctx context.Context, t *resource.Target, o *resource.Object) bool {
	config := t.Config()
	if a.Provisioners == nil || !slices.ContainsFunc(config.Provisioners, func(one *module.Provisioner) bool { return !one.Destroy }) {
		return true
	}
	at := t.At
	at.Self = o.Value
	o.Tainted = true // until they have ended, so that it is if this program is killed
	p := provisioning{target: t, all: config.Provisioners, connection: config.Connection, module: t.Resource.Module, at: at}
	if !a.store(t, o, "") || !a.provision(ctx, p, false) {
		return false
	}
	o.Tainted = false
	return a.store(t, o, "")
}

// ending runs the provisioners that come before the destruction of an object, and reports whether
// it may be destroyed. Tainted objects have none.
func (a *applier) ending(ctx context.Context, t *resource.Target, o *resource.Object, deposed stackaddrs.DeposedKey) bool {
	if a.Provisioners == nil || o.Tainted {
		return true
	}
	p := provisioning{
		target:  t,
		deposed: deposed,
		at:      eval.Place{Resource: t.Address, Self: o.Value, Repetition: eval.RepetitionOf(t.Addr.Key)},
	}
	if tree := a.Tree.At(t.Addr.Module); tree != nil && tree.Resources[t.Addr.Resource] != nil {
		config := tree.Resources[t.Addr.Resource]
		p.all, p.connection = config.Provisioners, config.Connection
		if p.module = a.eval.Module(ctx, t.Addr.Module); p.module == nil {
			p.module = a.eval.Former(tree, t.Addr.Module)
		}
	} else if removed, tree := a.removals().Covering(t.Addr); removed != nil {
		p.all, p.connection, p.module = removed.Provisioners, removed.Connection, a.eval.Former(tree, t.Addr.Module)
	}
	return a.provision(ctx, p, true)
}

// provision runs those of the provisioners that are for destroying, or the others, one after
// another until one fails. Until they have ended, the change that they are part of is in doubt.
func (a *applier) provision(ctx context.Context, p provisioning, destroy bool) bool {
	all := slices.DeleteFunc(slices.Clone(p.all), func(config *module.Provisioner) bool { return config.Destroy != destroy })
	if len(all) == 0 {
		return true
	}
	addr, action := p.target.Addr, engine.ActionCreate
	if destroy {
		action = engine.ActionDelete
	}
	if a.Journal != nil && !a.recorded(addr, a.Journal.Intend(addr, p.deposed, action)) {
		return false
	}
	for _, config := range all {
		diags := a.Provisioners.Provision(ctx, &ProvisionRequest{
			Config: config, Connection: p.connection, Module: p.module, Place: p.at, Observe: a.rt.Observe, Stop: a.stopped,
		})
		if config.Continue {
			continue // an error of it is none
		}
		if !a.eval.Diagnostics.AddTo(p.target.Address, diags...) {
			a.unchanged(addr, p.deposed)
			return false
		}
	}
	return true
}

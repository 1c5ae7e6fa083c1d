// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"errors"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Push returns the records that put a document in the place of a locked state, which from then on
// knows the applies of that. Without force, the document must be of the same lineage and at least
// as new.
func (t *Stored) Push(ctx context.Context, document *Document, force bool) (map[string][]byte, error) {
	if err := t.checkPush(document); err != nil && !force {
		return nil, err
	}
	if t.Lineage == "" {
		t.Lineage = document.Lineage
	}
	if len(document.Secret) > 0 {
		if err := t.lock.AdoptSecret(ctx, document.Secret); err != nil {
			return nil, err
		}
	}
	return statestore.Changes(t.Records, document.Records), nil
}

func (t *Stored) checkPush(document *Document) error {
	refuse := func(summary, detail string, args ...any) error {
		return hcl.Diagnostics{failure.With(CodeNotPushed, failure.New(summary, detail, args...))}
	}
	switch {
	case t.Lineage == "":
		return nil
	case document.Lineage == "":
		return refuse("State without lineage", "The file is of a client of the RPC API and does not name the stack that it belongs to. The "+
			"state here is at serial %d.", t.Serial)
	case document.Lineage != t.Lineage:
		return refuse("Different state lineage", "The file has lineage %s and the state has %s: they are the states of different things.",
			document.Lineage, t.Lineage)
	case document.Serial < t.Serial:
		return refuse("Outdated state serial", "The file has serial %d and the state is at serial %d: something was changed since.",
			document.Serial, t.Serial)
	}
	return nil
}

// Export returns the state of a component instance as a plain Terraform state.
func (t *Stored) Export(address string) (engine.State, error) {
	target, err := t.Find(address)
	switch {
	case err != nil:
		return nil, err
	case target.Resource != "":
		return nil, failure.Error("Invalid address", "Only whole components are exported. Give the address of a component instance.")
	case len(target.Component.Module) == 0:
		return nil, failure.Error("No resources to export", "%s has no state of its own.", target.Component.Addr)
	}
	document, err := stackstate.ExportModule(target.Component)
	if err != nil {
		return nil, failure.Error("State export failed", "The state of %s cannot be written as a plain Terraform state: %s.",
			target.Component.Addr, err)
	}
	return document, nil
}

// ParseComponent returns a component instance whose state is a plain Terraform state. The name is
// that of the file in errors.
func ParseComponent(addr stackaddrs.AbsComponentInstance, src []byte, name string) (*stackstate.Component, error) {
	document, err := parseTerraformState(src, name)
	if err != nil {
		return nil, err
	}
	component, err := stackstate.ImportModule(addr, document)
	if err != nil {
		return nil, failure.Error("Not a Terraform state", "%s cannot be read: %s.", name, err)
	}
	return component, nil
}

// Import returns the records that replace the module state and the outputs of a component instance.
func (t *Stored) Import(imported *stackstate.Component) (map[string][]byte, error) {
	before, after := t.State.Components[imported.Addr], imported
	if before != nil {
		copied := *before
		copied.Module, copied.Outputs = imported.Module, imported.Outputs
		after = &copied
	}
	return stackstate.ComponentRecords(before, after)
}

// parseTerraformState reads the state of a Terraform configuration.
func parseTerraformState(src []byte, name string) (*tfstate.Document, error) {
	document, err := tfstate.Parse(src)
	if other, ok := errors.AsType[*tfstate.VersionError](err); ok {
		if version, err := strconv.Atoi(other.Version); err == nil && version != 0 {
			return nil, failure.Error("Unsupported Terraform state", "%s has format version %d; only version %d can be imported. "+
				"A current Terraform rewrites it with: terraform refresh", name, version, tfstate.Version)
		}
	}
	switch {
	case errors.Is(err, tfstate.ErrNotDocument), errors.As(err, new(*tfstate.VersionError)), err == nil && document.IsEmpty():
		return nil, failure.Error("Not a Terraform state", "%s is not the state of a Terraform configuration.", name)
	case err != nil:
		return nil, failure.Error("Not a Terraform state", "%s cannot be read: %s.", name, err)
	}
	if _, err := document.Objects(); err != nil {
		return nil, failure.Error("Not a Terraform state", "%s cannot be read: %s.", name, err)
	}
	return document, nil
}

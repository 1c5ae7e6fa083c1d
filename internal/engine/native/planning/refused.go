// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Unsupported returns the errors about features that a module tree needs and the engine lacks, by
// feature and place.
func Unsupported(tree *module.Node) hcl.Diagnostics {
	diags := append(hcl.Diagnostics(nil), tree.Unsupported...)
	for _, addr := range slices.SortedFunc(maps.Keys(tree.Resources), stackaddrs.Resource.Compare) {
		if r := tree.Resources[addr]; addr.Mode == stackaddrs.DataResource &&
			addr.Type == "terraform_remote_state" && r.ProviderAddr.IsBuiltin() {
			diags = append(diags, otherBackend(r)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tree.Children)) {
		diags = append(diags, Unsupported(tree.Children[name])...)
	}
	return diags
}

func unsupported(at hcl.Range, detail string) *hcl.Diagnostic {
	return failure.At(at, "Unsupported module feature", "%s", detail)
}

var backendSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "backend"}}}

// otherBackends are those from which terraform reads states, and this engine does not.
var otherBackends = []string{"azurerm", "consul", "cos", "gcs", "kubernetes", "oss", "pg", "remote", "s3"}

// otherBackend returns the error about a data source that reads a state from elsewhere than this
// engine can.
func otherBackend(r *module.Resource) hcl.Diagnostics {
	content, _, _ := r.Body.PartialContent(backendSchema) //nolint:errcheck // decoding the body reports its errors
	attr := content.Attributes["backend"]
	if attr == nil {
		return nil
	}
	name, diags := attr.Expr.Value(nil)
	if diags.HasErrors() || name.Type() != cty.String || !name.IsKnown() || name.IsNull() || !slices.Contains(otherBackends, name.AsString()) {
		return nil
	}
	return hcl.Diagnostics{unsupported(attr.Expr.Range(),
		fmt.Sprintf("The native engine reads states from the backends http and local, not from %q. An engine with a binary does: choose "+
			"terraform or tofu.", name.AsString()))}
}

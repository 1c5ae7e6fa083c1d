// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// decodeDiagnostics returns the diagnostics of a provider, nil if there are none. See rule C2.
func decodeDiagnostics(encoded []*pluginv1.Diagnostic) provider.Diagnostics {
	if len(encoded) == 0 {
		return nil
	}
	diags := make(provider.Diagnostics, len(encoded))
	for i, one := range encoded {
		diags[i] = provider.Diagnostic{Summary: one.GetSummary(), Detail: one.GetDetail()}
		if one.GetSeverity() == pluginv1.Diagnostic_WARNING {
			diags[i].Severity = provider.Warning
		}
		diags[i].Path, _ = decodePath(one.GetAttribute()) //nolint:errcheck // the beginning of a path is better than none
	}
	return diags
}

// decodePath returns a path, with an error as far as it could be decoded.
func decodePath(encoded *pluginv1.AttributePath) (cty.Path, error) {
	if len(encoded.GetSteps()) == 0 {
		return nil, nil
	}
	path := make(cty.Path, 0, len(encoded.GetSteps()))
	for i, step := range encoded.GetSteps() {
		switch selector := step.GetSelector().(type) {
		case *pluginv1.AttributePath_Step_AttributeName:
			path = append(path, cty.GetAttrStep{Name: selector.AttributeName})
		case *pluginv1.AttributePath_Step_ElementKeyString:
			path = append(path, cty.IndexStep{Key: cty.StringVal(selector.ElementKeyString)})
		case *pluginv1.AttributePath_Step_ElementKeyInt:
			path = append(path, cty.IndexStep{Key: cty.NumberIntVal(selector.ElementKeyInt)})
		default:
			return path, fmt.Errorf("step %d of a path is neither an attribute nor an element", i+1)
		}
	}
	return path, nil
}

// paths decodes paths, each of which must be valid.
func (x *exchange) paths(encoded []*pluginv1.AttributePath) []cty.Path {
	var paths []cty.Path
	for _, one := range encoded {
		path, err := decodePath(one)
		if err != nil {
			x.invalid("a path", err)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

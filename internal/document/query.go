// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Query is the document of the objects that a query has found.
type Query struct {
	FormatVersion string        `json:"format_version"`
	Component     string        `json:"component"`
	Objects       []QueryObject `json:"objects"`
}

// QueryObject is an existing object.
type QueryObject struct {
	List         string `json:"list"` // address of the list block
	Type         string `json:"type"`
	ProviderName string `json:"provider_name"`
	Identity     any    `json:"identity"`
	DisplayName  string `json:"display_name"`

	// Both are absent unless the query asks for them. Sensitive values are null.
	Values          any `json:"values,omitempty"`
	SensitiveValues any `json:"sensitive_values,omitempty"`
}

// NewQuery returns the document of the objects that a query of a component has found.
func NewQuery(component stackaddrs.AbsComponentInstance, result *engine.QueryResult) Query {
	doc := Query{FormatVersion: FormatVersion, Component: component.String(), Objects: []QueryObject{}}
	for _, found := range result.Objects {
		object := QueryObject{
			List: found.List, Type: found.Type, ProviderName: found.Provider.String(), Identity: terraformjson.Value(found.Identity),
			DisplayName: found.DisplayName,
		}
		if found.Object != cty.NilVal {
			object.Values = terraformjson.Value(withoutSensitive(found.Object))
			object.SensitiveValues = terraformjson.Sensitive(found.Object)
		}
		doc.Objects = append(doc.Objects, object)
	}
	return doc
}

// withoutSensitive returns a value in which sensitive parts are null.
func withoutSensitive(v cty.Value) cty.Value {
	bare, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if marks.Has(part, marks.Sensitive) {
			return cty.NullVal(part.Type()), nil
		}
		return part, nil
	})
	if err != nil {
		panic("document: a transformation that cannot fail has failed: " + err.Error())
	}
	return bare
}

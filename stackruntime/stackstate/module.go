// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// joinModule puts the state of a module together of its stored parts. The result depends on the
// arguments only, not on the order of the entries.
//
// A document that has no lineage of its own gets one that is derived from the
// component's address, since terraform requires one.
func joinModule(component stackaddrs.AbsComponentInstance, rest json.RawMessage, entries []tfstate.Entry) (engine.State, error) {
	doc, err := joinDocument(component, rest, entries)
	if err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

func joinDocument(component stackaddrs.AbsComponentInstance, rest json.RawMessage, entries []tfstate.Entry) (*tfstate.Document, error) {
	doc, err := tfstate.New(rest, entries)
	if err == nil && !doc.IsEmpty() && doc.Lineage() == "" {
		doc = doc.WithIdentity(derivedLineage(component), doc.Serial())
	}
	return doc, err
}

// lineageNamespace is the name space of the lineages derived from addresses.
var lineageNamespace = uuid.MustParse("6f0d7a8e-4a39-5d0c-9d54-5f3a0f1f5d7b")

func derivedLineage(component stackaddrs.AbsComponentInstance) string {
	return uuid.NewSHA1(lineageNamespace, []byte(component.String())).String()
}

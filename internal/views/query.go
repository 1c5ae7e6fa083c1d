// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// WriteQuery writes the objects that a query has found, a line each, and their number.
func WriteQuery(w io.Writer, result *engine.QueryResult) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, found := range result.Objects {
		line := found.List + "\t" + identityText(found.Identity)
		if found.DisplayName != "" {
			line += "\t" + safetext.Name(found.DisplayName)
		}
		fmt.Fprintln(table, line)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	total := "No objects found."
	switch n := len(result.Objects); {
	case n == 1:
		total = "\n1 object found."
	case n > 1:
		total = fmt.Sprintf("\n%d objects found.", n)
	}
	_, err := fmt.Fprintln(w, total)
	return err
}

// identityText writes the attributes of an identity that have a value.
func identityText(identity cty.Value) string {
	var parts []string
	attributes := identity.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		if value.IsNull() {
			continue
		}
		text := ""
		if value.Type() == cty.String {
			text = value.AsString()
		} else if encoded, err := ctyjson.Marshal(value, value.Type()); err == nil {
			text = string(encoded)
		}
		parts = append(parts, safetext.Name(name+"="+text))
	}
	return strings.Join(parts, ",")
}

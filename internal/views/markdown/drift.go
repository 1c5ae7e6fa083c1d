// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"
)

// DriftUnit is a stack or a root module that was compared with reality.
type DriftUnit struct {
	Name    string
	State   string // in words
	Detail  string // why it failed; "" if it did not
	Drifted bool
	Objects []DriftObject // as far as they are known
}

// DriftObject is an object that differs from its record in the state.
type DriftObject struct {
	Component  string // "" in a root module
	Address    string
	Change     string   // in words
	Attributes []string // that differ
}

// Drift returns a summary with two tables: the objects that have drifted, and the end of each unit.
func Drift(units []DriftUnit) string {
	d := newDocument("\nThis is not all: the rest is in the output and in the other reports of the run.\n")
	drifted, failed := 0, 0
	for _, unit := range units {
		if unit.Drifted {
			drifted++
		}
		if unit.Detail != "" {
			failed++
		}
	}
	d.add(fmt.Sprintf("### Drift: %d of %d\n\n", drifted, len(units)))
	if failed > 0 {
		d.add(fmt.Sprintf("**%d could not be compared.**\n\n", failed))
	}
	if drifted > 0 {
		d.add("| unit | component | object | change | attributes |\n| --- | --- | --- | --- | --- |\n")
		for _, unit := range units {
			for _, object := range unit.Objects {
				d.add(fmt.Sprintf("| %s | %s | %s | %s | %s |\n", Text(unit.Name), Text(object.Component), Text(object.Address), Text(object.Change),
					Text(strings.Join(object.Attributes, ", "))))
			}
			if unit.Drifted && len(unit.Objects) == 0 {
				d.add(fmt.Sprintf("| %s | | | | |\n", Text(unit.Name)))
			}
		}
		d.add("\n")
	}
	if len(units) == 0 {
		return d.end()
	}
	d.add("| unit | result | |\n| --- | --- | --- |\n")
	for _, unit := range units {
		d.add(fmt.Sprintf("| %s | %s | %s |\n", Text(unit.Name), Text(unit.State), Text(strings.Join(strings.Fields(unit.Detail), " "))))
	}
	return d.end()
}

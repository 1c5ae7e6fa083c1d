// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"
)

// DriftUnit is a stack or a root module that was compared with what is there.
type DriftUnit struct {
	Name    string
	State   string // in words
	Detail  string // why it failed; "" if it did not
	Drifted bool
	Objects []DriftObject // as far as they are known
}

// DriftObject is an object that differs from what the state says.
type DriftObject struct {
	Component  string // "" in a root module
	Address    string
	Change     string   // in words
	Attributes []string // that differ
}

// Drift returns a summary with two tables: what has drifted, and how each unit ended.
func Drift(units []DriftUnit) string {
	var b strings.Builder
	drifted, failed := 0, 0
	for _, unit := range units {
		if unit.Drifted {
			drifted++
		}
		if unit.Detail != "" {
			failed++
		}
	}
	fmt.Fprintf(&b, "### Drift: %d of %d\n\n", drifted, len(units))
	if failed > 0 {
		fmt.Fprintf(&b, "**%d could not be compared.**\n\n", failed)
	}
	if drifted > 0 {
		b.WriteString("| unit | component | object | change | attributes |\n| --- | --- | --- | --- | --- |\n")
		for _, unit := range units {
			for _, object := range unit.Objects {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(unit.Name), cell(object.Component), cell(object.Address), cell(object.Change), cell(strings.Join(object.Attributes, ", ")))
			}
			if unit.Drifted && len(unit.Objects) == 0 {
				fmt.Fprintf(&b, "| %s | | | | |\n", cell(unit.Name))
			}
		}
		b.WriteString("\n")
	}
	if len(units) == 0 {
		return b.String()
	}
	b.WriteString("| unit | result | |\n| --- | --- | --- |\n")
	for _, unit := range units {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(unit.Name), cell(unit.State), cell(unit.Detail))
	}
	return cut(b.String(), "\nThis is not all: the rest is in the output and in the other reports of the run.\n")
}

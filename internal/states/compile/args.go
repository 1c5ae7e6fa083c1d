// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import "github.com/hashicorp/hcl/v2"

// FunctionArgs returns the arguments of the function: all but the name, requisites and those for
// the run.
func (c *Call) FunctionArgs() *Map {
	args := &Map{}
	for _, entry := range c.Args.Entries {
		if entry.Key != "name" && !forRun(entry.Key) && !isRequisite(entry.Key) {
			args.Entries = append(args.Entries, entry)
		}
	}
	return args
}

// forRun reports whether an argument is for the run and not for functions.
func forRun(arg string) bool {
	switch arg {
	case "failhard", "parallel", "retry":
		return true
	}
	return withoutEffect(arg) != ""
}

// withoutEffect says why an argument that Salt knows does nothing here; "" if it is not one of
// these.
func withoutEffect(arg string) string {
	switch arg {
	case "fire_event":
		return "there is no master that events could be sent to"
	case "aggregate":
		return "each call is made on its own"
	case "reload_modules", "reload_grains", "reload_pillar":
		return "there is nothing that is loaded once and could have to be loaded again"
	}
	return ""
}

// ArgRange returns where an argument is written, or the call if it is not.
func (c *Call) ArgRange(name string) *hcl.Range {
	if r := c.ranges[name]; r != nil {
		return r
	}
	return c.Range
}

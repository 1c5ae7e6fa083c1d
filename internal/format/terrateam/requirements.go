// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/tagquery"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// Requirements are conditions for applying some dirspaces. They are about pull requests: approvals,
// checks, conflicts. Nobody can tell here whether they are met.
type Requirements struct {
	Query tagquery.Query // of the dirspaces that they are for
	Names []string       // keys of the format, sorted
	Range *hcl.Range
}

// requirements reads apply_requirements, with a list of checks or a mapping that is the only one,
// or as one check without a query.
func (r *reader) requirements(n *yaml.Node) []Requirements {
	var all []Requirements
	own := Requirements{Range: r.at(n)}
	for _, entry := range r.entries(n, "apply_requirements") {
		switch entry.Name {
		case "checks":
			if entry.Value.Kind == yaml.MappingNode {
				all = append(all, r.check(entry.Value))
				continue
			}
			for _, check := range r.list(entry.Value, "checks") {
				all = append(all, r.check(check))
			}
		case "create_pending_apply_check", "create_completed_apply_check_on_noop", "create_if_missing": // are no requirements
		default:
			own.add(entry)
		}
	}
	if len(own.Names) > 0 {
		all = append(all, own)
	}
	return all
}

func (r *reader) check(n *yaml.Node) Requirements {
	check := Requirements{Range: r.at(n)}
	for _, entry := range r.entries(n, "an element of checks") {
		if entry.Name == "tag_query" {
			check.Query = r.query(entry.Value, "tag_query")
			continue
		}
		check.add(entry)
	}
	return check
}

// add adds a requirement unless it says that it is not one. Keys and their contents are not
// checked.
func (q *Requirements) add(entry yamldoc.Pair) {
	if !isFalse(entry.Value) && !disabled(entry.Value) {
		q.Names = append(q.Names, entry.Name)
		slices.Sort(q.Names)
	}
}

func isFalse(n *yaml.Node) bool {
	return isNull(n) || n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && (n.Value == "false" || n.Value == "False" || n.Value == "FALSE")
}

// disabled reports whether a mapping has enabled: false.
func disabled(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "enabled" && isFalse(yamldoc.Resolve(n.Content[i+1])) {
			return true
		}
	}
	return false
}

// Requirements returns the requirements for applying a dirspace, by the first check whose query
// matches; nil for none.
func (l *Layout) Requirements(dirspace int) *Requirements {
	for i := range l.requirements {
		if q := &l.requirements[i]; l.Matches(q.Query, dirspace) {
			if len(q.Names) == 0 {
				return nil
			}
			return q
		}
	}
	return nil
}

// Unchecked returns warnings about the requirements of the dirspaces in a change: nobody here can
// tell whether they are met. Each is reported once.
func (c *Change) Unchecked() hcl.Diagnostics {
	var diags hcl.Diagnostics
	known := map[*Requirements]bool{}
	for _, s := range c.Stacks {
		for _, d := range s.Dirspaces {
			q := c.Requirements(d.Dirspace)
			if q == nil || known[q] {
				continue
			}
			known[q] = true
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: "Unchecked requirements", Subject: q.Range,
				Detail: fmt.Sprintf("Before stacks are applied, this asks for %s. "+
					"cairn does not know pull requests and cannot tell whether that is so: it asks you instead, "+
					"also where a stack has auto_apply. See to it yourself before you approve.", strings.Join(q.Names, ", ")),
			})
		}
	}
	return diags
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

func listCommand() *command {
	var options treeOptions
	var runOrder, why bool
	return &command{
		name:    "list",
		summary: "Lists the stacks of a repository.",
		long: `
A stack is a directory with a stack or terrastack block in a file *.tsk.hcl, *.tm or *.tm.hcl, or with files of the
Terraform Stacks language; or what a file cairn.workspace.hcl at the top of the repository says. Only those in the current directory and below it are listed, and what they want.`,
		example: "cairn list -run-order\ncairn list -changed -why\ncairn list -changed -base=origin/main -tags=network:prod,network:staging",
		flags: func(f *flagSet) {
			f.treeFlags(&options)
			f.BoolVar(&runOrder, "run-order", false, "in the order in which they are run, instead of by name")
			f.BoolVar(&why, "why", false, "with the reasons why they have changed; needs -changed")
			f.jsonFlag("write a JSON document")
		},
		run: func(ctx context.Context, s *session, _ []string) (int, error) {
			s.reportDocuments()
			if why && !options.changed {
				return 0, fail("Option without another", "The option -why says why stacks have changed: add -changed.")
			}
			if work, err := s.openWorkspace(ctx, options); err != nil {
				return 0, err
			} else if work != nil {
				return exitOK, s.listWorkspace(work, runOrder, why)
			}
			tree, err := s.openTree(ctx, options)
			if err != nil {
				return 0, err
			}
			stacks := tree.listed()
			if runOrder {
				if err := tree.order(); err != nil {
					return 0, err
				}
				stacks = tree.graph.Sequence(order.ByQueue, tree.selected.Selection)
			}
			if s.options.json {
				return exitOK, jsonview.WriteDocument(s.streams.Out, s.listDocument(tree, stacks), true)
			}
			if err := s.report(tree.diags); err != nil {
				return 0, err
			}
			s.writeList(tree, stacks, why)
			return exitOK, nil
		},
	}
}

func (s *session) writeList(tree *stackTree, stacks []int, why bool) {
	for _, i := range stacks {
		s.stdout("%s\n", tree.name(i))
		if why {
			s.stdout("%s", reasonLines(tree.reasons(i)))
		}
	}
	if why {
		for _, gone := range tree.gone() {
			s.note("%s\n", gone)
		}
	}
}

// reasonLines shows reasons, of many only some.
func reasonLines(reasons []string) string {
	const most = 5
	var b strings.Builder
	for i, reason := range reasons {
		if i == most && len(reasons) > most+1 {
			fmt.Fprintf(&b, "  and %d more\n", len(reasons)-most)
			break
		}
		fmt.Fprintf(&b, "  %s\n", reason)
	}
	return b.String()
}

// stackList is the document of cairn list -json.
type stackList struct {
	FormatVersion string                  `json:"format_version"`
	Base          *listBase               `json:"base,omitempty"`
	Stacks        []listedStack           `json:"stacks"`
	Gone          []changes.Gone          `json:"gone,omitempty"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

type listBase struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

type listedStack struct {
	Path        string           `json:"path"`
	Directory   string           `json:"directory"`
	ID          string           `json:"id,omitempty"`
	Name        string           `json:"name,omitempty"`
	Description string           `json:"description,omitempty"`
	Tags        []string         `json:"tags"`
	Reasons     []changes.Reason `json:"reasons,omitempty"`
	Wanted      string           `json:"wanted,omitempty"`

	// Of what a workspace file names:
	Type       string   `json:"type,omitempty"` // "stack", "terraform" or "task"
	Deployment string   `json:"deployment,omitempty"`
	Groups     []string `json:"groups,omitempty"`
}

func (s *session) listDocument(tree *stackTree, stacks []int) stackList {
	list := stackList{
		FormatVersion: jsonview.FormatVersion, Stacks: []listedStack{},
		Diagnostics: diagnostic.All(tree.diags, s.sources()),
	}
	for _, i := range stacks {
		stack := tree.Stacks[i]
		listed := listedStack{
			Path: stack.Path, Directory: tree.name(i), ID: stack.ID, Name: stack.Name, Description: stack.Description,
			Tags: append([]string{}, stack.Tags...), Wanted: tree.selected.Wanted[i],
		}
		if tree.changes != nil {
			listed.Reasons = tree.changes.Reasons[i]
		}
		list.Stacks = append(list.Stacks, listed)
	}
	if tree.changes != nil {
		list.Base = &listBase{tree.changes.diff.Base, tree.changes.diff.Commit}
		list.Gone = tree.changes.Gone
	}
	return list
}

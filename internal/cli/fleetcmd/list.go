// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/safetext"
)

// ListCommand returns the command that lists stacks.
func ListCommand() *session.Command {
	var options treeOptions
	var runOrder, why bool
	return &session.Command{
		Name:    "list",
		Summary: "Lists the stacks of a repository.",
		Long: `
A stack is a directory with a stack or terrastack block in a file *.tsk.hcl, *.tm or *.tm.hcl, or
with files of the Terraform Stacks language; or an entry of a file cairn.workspace.hcl at the top of
the repository. Only those in the current directory and below it are listed, and those that they
want.`,
		Example: "cairn list -run-order\ncairn list -changed -with-dependents -why\n" +
			"cairn list -changed -base=origin/main -tags=network:prod,network:staging",
		Flags: func(f *session.Flags) {
			treeFlags(f, &options)
			f.BoolVar(&runOrder, "run-order", false, "in the order in which they are run, instead of by name")
			f.BoolVar(&why, "why", false, "with the reasons why they are selected; needs -changed, -with-dependents or -with-dependencies")
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			if why && !options.changed && !options.along.Any() {
				return 0, failure.Error("Missing required option",
					"The option -why says why stacks have changed or are added: add -changed, -with-dependents or -with-dependencies.")
			}
			src, err := openStacks(ctx, s, options)
			if err != nil {
				return 0, err
			}
			l, err := listingOf(src, runOrder)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, listDocument(s, l), true)
			}
			if err := s.Report(l.diags); err != nil {
				return 0, err
			}
			writeList(s, l, why)
			noteEmpty(s, l, options)
			return cmdline.ExitOK, nil
		},
	}
}

// listing is the result of cairn list.
type listing struct {
	stacks []listedStack
	base   *listBase      // nil if changes do not matter
	gone   []gitdiff.Gone // the same
	diags  hcl.Diagnostics
}

// listingOf lists the selected stacks, by name or in the order in which they run.
func listingOf(src *fleet.Source, inOrder bool) (listing, error) {
	l := listing{diags: src.Diags}
	units := src.Listed()
	if inOrder {
		o, err := orderingOf(src)
		if err != nil {
			return l, err
		}
		l.diags, units = o.diags, src.Order.Sequence()
	}
	for _, unit := range units {
		l.stacks = append(l.stacks, listedStack{
			shown:       unit.Name,
			Path:        unit.Path,
			Directory:   unit.Directory,
			ID:          unit.ID,
			Name:        unit.Title,
			Description: unit.Description,
			Tags:        append([]string{}, unit.Tags...),
			Reasons:     unit.Reasons,
			Wanted:      unit.Wanted,
			Type:        string(unit.Kind),
			Deployment:  unit.Deployment,
			Workspace:   unit.Workspace,
			Groups:      unit.Groups,
		})
	}
	if c := src.Changes; c != nil {
		l.base, l.gone = &listBase{c.Base, c.Commit}, c.Gone
	}
	return l, nil
}

func writeList(s *session.Session, l listing, why bool) {
	for _, stack := range l.stacks {
		s.Line("%s", stack.shown)
		if why {
			s.Print("%s", reasonLines(stack.why()))
		}
	}
	if why {
		noteGone(s, l.gone)
	}
}

// noteEmpty says on standard error that a list has nothing, and since when, if it is about changes.
// Where there are no stacks at all, a warning has said so.
func noteEmpty(s *session.Session, l listing, o treeOptions) {
	if len(l.stacks) > 0 || len(l.diags) > 0 {
		return
	}
	since := ""
	if l.base != nil {
		since = fmt.Sprintf(" since %s (%.10s)", l.base.Name, l.base.Commit)
	}
	s.NoteLine("There is nothing to list: %s", o.nothing(since))
}

// noteGone names the stacks that were deleted or renamed.
func noteGone(s *session.Session, all []gitdiff.Gone) {
	for _, gone := range all {
		name := cmp.Or(gone.Name, gone.Path)
		if gone.RenamedTo != "" {
			s.NoteLine("%s was renamed to %s", name, gone.RenamedTo)
		} else {
			s.NoteLine("%s was deleted", name)
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
		fmt.Fprintf(&b, "  %s\n", safetext.Name(reason))
	}
	return b.String()
}

// stackList is the document of cairn list -json.
type stackList struct {
	FormatVersion string                  `json:"format_version"`
	Base          *listBase               `json:"base,omitempty"`
	Stacks        []listedStack           `json:"stacks"`
	Gone          []gitdiff.Gone          `json:"gone,omitempty"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

type listBase struct {
	Name   string `json:"name"`
	Commit string `json:"commit"`
}

type listedStack struct {
	shown string // its name in text

	Path        string           `json:"path"`
	Directory   string           `json:"directory"`
	ID          string           `json:"id,omitempty"`
	Name        string           `json:"name,omitempty"`
	Description string           `json:"description,omitempty"`
	Tags        []string         `json:"tags"`
	Reasons     []gitdiff.Reason `json:"reasons,omitempty"`
	Wanted      string           `json:"wanted,omitempty"`

	// Of units that a workspace file names:
	Type       string   `json:"type,omitempty"` // "stack", "terraform" or "task"
	Deployment string   `json:"deployment,omitempty"`
	Workspace  string   `json:"workspace,omitempty"` // of a root module
	Groups     []string `json:"groups,omitempty"`
}

// why returns the reasons for selecting a stack, other than filters alone.
func (l *listedStack) why() []string {
	var texts []string
	for _, reason := range l.Reasons {
		texts = append(texts, reason.Text)
	}
	if l.Wanted != "" {
		texts = append(texts, l.Wanted)
	}
	return slices.Compact(texts)
}

func listDocument(s *session.Session, l listing) stackList {
	return stackList{
		FormatVersion: document.FormatVersion, Base: l.base, Stacks: append([]listedStack{}, l.stacks...), Gone: l.gone,
		Diagnostics: diagnostic.All(l.diags, s.Sources()),
	}
}

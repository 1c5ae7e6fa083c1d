// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/statescmd"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
)

// OrderCommand returns the command that shows the order of stacks, with those below it.
func OrderCommand() *session.Command {
	var options treeOptions
	var format string
	var reduced reducedValue
	var why bool
	return &session.Command{
		Name:    "order",
		Summary: "Shows in which order stacks run, and which can run at the same time.",
		Long: `
Without the name of a command, all selected stacks are shown in groups: those of a group can run at
the same time, after those of the groups before. In pictures, an arrow leads from a stack to one
that comes after it.

If there is a file cairn.workspace.hcl, it names the stacks; otherwise the directories with stacks
do, and without any of them .terrateam/config.yml.`,
		Example: "cairn order -why\ncairn order -format=svg > order.svg\ncairn order -phases -query=prod\ncairn order explain network app",
		Flags: func(f *session.Flags) {
			treeFlags(f, &options)
			pluginFlags(f, &options)
			f.BoolVar(&options.phases, "phases", false, "with a workspace file: planning and applying each stack on their own")
			f.StringVar(&format, "format", "text", "write `text|json|dot|mermaid|svg` (default: text)")
			f.BoolVar(&why, "why", false, "as text: say about each stack why it comes after others, and where that is written")
			reduced = reducedValue{}
			f.Var(&reduced, "transitive-reduction",
				"leave out edges that others imply: json only with this option, the others unless it is false or there are very many")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			write, ok := orderFormats[format]
			if !ok {
				return 0, failure.Error("Unknown format", "There is no format %q.%s Use text, json, dot, mermaid or svg.",
					format, nearest.DidYouMean(format, slices.Collect(maps.Keys(orderFormats))))
			}
			if format == "json" {
				s.Options.JSON = true
				s.ReportDocuments()
			}
			if why && format != "text" {
				return 0, failure.Error("Conflicting options",
					"The option -why is about text; of the other formats, all but mermaid say why anyway. Leave out -why or -format.")
			} else if why {
				write = orderText(show.View.TextWhy)
			}
			o, err := openOrdering(ctx, s, options)
			if err != nil {
				return 0, err
			}
			if !reduced.given {
				reduced.value = format != "json" && o.graph.Len() <= maxReduced
			}
			return cmdline.ExitOK, write(s, o, o.view(reduced.value))
		},
		Commands: []*session.Command{orderExplainCommand(), orderConvertCommand(), statescmd.HighCommand(), statescmd.LowCommand()},
	}
}

// reducedValue is an option with a default that depends on others.
type reducedValue struct{ given, value bool }

// String implements [flag.Value].
func (v *reducedValue) String() string { return strconv.FormatBool(v.value) }

// Set implements [flag.Value].
func (v *reducedValue) Set(text string) (err error) {
	v.given = true
	if v.value, err = strconv.ParseBool(text); err != nil {
		return errors.New("must be true or false")
	}
	return nil
}

// IsBoolFlag says that the option may stand without a value.
func (*reducedValue) IsBoolFlag() bool { return true }

// maxReduced is the size of a graph up to which all that is for people leaves out implied edges: of
// larger ones that can take many seconds.
const maxReduced = 200_000

var orderFormats = map[string]func(*session.Session, *ordering, show.View) error{
	"text":    orderText(show.View.Text),
	"dot":     orderText(show.View.DOT),
	"mermaid": orderText(show.View.Mermaid),
	"svg":     orderText(show.View.SVG),
	"json":    writeOrderDocument,
}

func orderText(write func(show.View) string) func(*session.Session, *ordering, show.View) error {
	return func(s *session.Session, o *ordering, view show.View) error {
		s.Print("%s", write(view))
		return s.Report(o.diags)
	}
}

// orderDocument is the output of cairn order -format=json.
type orderDocument struct {
	FormatVersion string `json:"format_version"`
	show.Document
	Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
}

func writeOrderDocument(s *session.Session, o *ordering, view show.View) error {
	doc := orderDocument{document.FormatVersion, view.Document(), diagnostic.All(o.diags, s.Sources())}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

func orderExplainCommand() *session.Command {
	var options treeOptions
	return &session.Command{
		Name:    "explain",
		Args:    "STACK [OTHER]",
		Summary: "Says which of two stacks runs first, and why, or why one is selected.",
		Long: `
Of one stack, it says whether it is selected by the options for that, and why, back to a stack that
is selected without the order.

Stacks are named by their directories, from here or from the root of the tree as in /network, or by
their ids; entries of a workspace file, by their names. A directory is enough there, too, if only
one stack is in it.`,
		Example: "cairn order explain network app\ncairn order explain -json /network /app\ncairn order explain -changed -with-dependents app",
		MinArgs: 1, MaxArgs: 2,
		Flags: func(f *session.Flags) {
			treeFlags(f, &options)
			pluginFlags(f, &options)
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			if err := checkExplained(args, options); err != nil {
				return 0, err
			}
			o, err := openOrdering(ctx, s, options)
			if err != nil {
				return 0, err
			}
			a, err := o.find(args[0])
			if err != nil {
				return 0, err
			}
			if len(args) == 1 {
				return cmdline.ExitOK, writeSelection(s, o, a, options)
			}
			b, err := o.find(args[1])
			if err != nil {
				return 0, err
			}
			if a == b {
				return 0, failure.Error("Identical stacks", "Both arguments name %s. Name two.", o.name(a))
			}
			return cmdline.ExitOK, writeExplanation(s, o, o.graph.Explain(o.rule, a, b))
		},
	}
}

// explanation is the document of cairn order explain -json.
type explanation struct {
	FormatVersion string                  `json:"format_version"`
	First         string                  `json:"first"`
	Second        string                  `json:"second"`
	Chain         []show.Edge             `json:"chain"`
	Rule          string                  `json:"rule,omitempty"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

func writeExplanation(s *session.Session, o *ordering, e order.Explanation) error {
	view := o.view(false)
	e.Chain = order.JoinSteps(e.Chain)
	if !s.Options.JSON {
		s.Print("%s", view.Explanation(e))
		return s.Report(o.diags)
	}
	doc := explanation{
		FormatVersion: document.FormatVersion, First: view.Name(e.First), Second: view.Name(e.Second), Chain: []show.Edge{},
		Rule: e.Rule, Diagnostics: diagnostic.All(o.diags, s.Sources()),
	}
	for _, edge := range e.Chain {
		doc.Chain = append(doc.Chain, view.NewEdge(edge))
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

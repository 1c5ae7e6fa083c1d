// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/show/stackpicture"
)

// componentGraph are components and their requirements. Everything is sorted.
type componentGraph struct {
	FormatVersion string      `json:"format_version"`
	Components    []graphNode `json:"components"`
	Edges         []graphEdge `json:"edges"`

	of graph.Graph
}

type graphNode struct {
	Address string   `json:"address"`
	Actions []string `json:"actions,omitempty"` // planned actions, over all instances

	// Deferred is set if a part cannot be planned yet.
	Deferred bool `json:"deferred,omitempty"`

	planned string // the same as text
}

// graphEdge leads from a component to one that it requires. Arrows in pictures lead the other way,
// as those of stacks do.
type graphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// GraphCommand returns the command that shows components and their requirements.
func GraphCommand() *session.Command {
	var format, planPath string
	return &session.Command{
		Name:    "graph",
		Summary: "Draws which components require which.",
		Long: `
As in pictures of "cairn order", an arrow leads from a component to one that comes after it. With a
plan file, the planned action of each component is part of the picture. An svg or html file needs no
other program: open it in a browser.`,
		Example: "cairn graph -format=svg > stack.svg\ncairn graph -format=html -plan=stack.plan > plan.html",
		Flags: func(f *session.Flags) {
			f.StringVar(&format, "format", "dot", "write `dot|mermaid|json|svg|html` (default: dot)")
			f.StringVar(&planPath, "plan", "", "show the actions of this plan `FILE`")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ChangesNothing = true
			write, ok := graphFormats[format]
			if !ok {
				return 0, failure.Error("Unknown format", "There is no format %q.%s Use dot, mermaid, json, svg or html.",
					format, nearest.DidYouMean(format, slices.Collect(maps.Keys(graphFormats))))
			}
			if format == "json" {
				s.Options.JSON = true
				s.ReportDocuments()
			}
			graph, err := readGraph(ctx, s, planPath)
			if err != nil {
				return 0, err
			}
			return cmdline.ExitOK, write(s, graph)
		},
	}
}

var graphFormats = map[string]func(*session.Session, *componentGraph) error{
	"dot":     writeDot,
	"mermaid": writeMermaid,
	"json": func(s *session.Session, g *componentGraph) error {
		return document.WriteDocument(s.Streams.Out, g, true)
	},
	"svg":  writeSVG,
	"html": writeHTML,
}

// readGraph returns the graph of a plan, or of the configuration.
func readGraph(ctx context.Context, s *session.Session, planPath string) (*componentGraph, error) {
	if planPath != "" {
		plan, _, err := s.Stack().ReadPlan(ctx, planPath)
		if err != nil {
			return nil, err
		}
		return newComponentGraph(graph.OfPlan(plan)), nil
	}
	g, diags := s.Stack().Graph(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	return newComponentGraph(g), s.Report(diags)
}

// newComponentGraph makes a document of a graph.
func newComponentGraph(of graph.Graph) *componentGraph {
	g := &componentGraph{FormatVersion: document.FormatVersion, Components: []graphNode{}, Edges: []graphEdge{}, of: of}
	for _, component := range of.Components {
		node := graphNode{Address: component.Addr.String(), planned: stackpicture.Planned(component)}
		if planned := component.Planned; planned != nil {
			for _, action := range planned.Actions {
				node.Actions = append(node.Actions, string(action))
			}
			node.Deferred = planned.Deferred
		}
		g.Components = append(g.Components, node)
		for _, required := range component.Requires {
			g.Edges = append(g.Edges, graphEdge{node.Address, required.String()})
		}
	}
	return g
}

// actionColors are the colours of components for which one thing is planned.
var actionColors = map[string]string{
	"create": "palegreen", "update": "khaki", "delete": "lightcoral", "read": "lightskyblue", "forget": "lightgrey",
}

func (n graphNode) color() string {
	if len(n.Actions) == 1 {
		return actionColors[n.Actions[0]]
	}
	return ""
}

func (n graphNode) label(lineBreak string) string {
	if len(n.Actions) == 0 {
		return n.Address
	}
	return n.Address + lineBreak + n.planned
}

func writeDot(s *session.Session, g *componentGraph) error {
	var b strings.Builder
	b.WriteString("digraph components {\n  rankdir = \"LR\"\n  node [shape = box, fontname = \"sans-serif\"]\n")
	for _, node := range g.Components {
		attributes := ""
		if len(node.Actions) > 0 {
			attributes = fmt.Sprintf(" [label = %s", dotQuote(node.label("\n")))
			if color := node.color(); color != "" {
				attributes += fmt.Sprintf(", style = filled, fillcolor = %q", color)
			}
			attributes += "]"
		}
		fmt.Fprintf(&b, "  %s%s\n", dotQuote(node.Address), attributes)
	}
	for _, edge := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s\n", dotQuote(edge.To), dotQuote(edge.From))
	}
	b.WriteString("}\n")
	s.Print("%s", b.String())
	return nil
}

func dotQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

func writeMermaid(s *session.Session, g *componentGraph) error {
	ids := map[string]string{}
	for i, node := range g.Components {
		ids[node.Address] = fmt.Sprintf("c%d", i)
	}
	for _, edge := range g.Edges { // required components that are not part of a plan
		if _, ok := ids[edge.To]; !ok {
			ids[edge.To] = fmt.Sprintf("c%d", len(ids))
			g.Components = append(g.Components, graphNode{Address: edge.To})
		}
	}
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for _, node := range g.Components {
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", ids[node.Address], mermaidEscape(node.label("<br/>")))
	}
	for _, edge := range g.Edges {
		fmt.Fprintf(&b, "  %s --> %s\n", ids[edge.To], ids[edge.From])
	}
	for _, node := range g.Components {
		if color := node.color(); color != "" {
			fmt.Fprintf(&b, "  style %s fill:%s\n", ids[node.Address], color)
		}
	}
	s.Print("%s", b.String())
	return nil
}

func mermaidEscape(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "#", "#35;").Replace(text)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statescmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// Options say how SLS files are read and compiled.
type Options struct {
	load   compile.LoadOptions
	id     string
	tie    string
	format string
}

func statesFlags(f *session.Flags, o *Options) {
	*o = Options{}
	f.StringVar(&o.load.Env, "env", "base", "the name of the environment is `NAME`; of top.sls, its section is used")
	f.StringVar(&o.id, "id", "", "this machine is `ID` in top.sls (default: its host name)")
	f.BoolVar(&o.load.NoAutoOrder, "no-auto-order", false, "give calls no numbers by their position (state_auto_order: false)")
}

func tieFlag(f *session.Flags, o *Options) {
	f.StringVar(&o.tie, "tie", "document",
		"of calls with equal order numbers, compare the parts, or as Salt does all as one text: `document|salt`")
}

// Source is a tree of SLS files.
type Source struct {
	root     *os.Root
	high     *compile.High
	Low      *compile.Low
	Warnings hcl.Diagnostics
}

// Close gives the directory back.
func (src *Source) Close() error { return src.root.Close() }

func (src *Source) files() fs.FS { return src.root.FS() }

// Open reads the SLS files that args name: the directory of the tree, and names in it or none for
// top.sls. The caller must close the result, and report its warnings.
func Open(args []string, o Options) (*Source, error) {
	root, err := os.OpenRoot(args[0])
	if err != nil {
		return nil, failure.Error("Unusable SLS root", "The directory %s cannot be read: %s.", args[0], failure.Reason(errors.Unwrap(err)))
	}
	o.load.Dir = args[0]
	src := &Source{root: root}
	var diags hcl.Diagnostics
	if names := args[1:]; len(names) > 0 {
		src.high, diags = compile.Load(root.FS(), names, o.load)
	} else {
		id, err := machineID(o.id)
		if err != nil {
			return nil, errors.Join(err, root.Close())
		}
		src.high, diags = compile.LoadTop(root.FS(), id, o.load)
	}
	if diags.HasErrors() {
		return nil, errors.Join(diags, root.Close())
	}
	src.Warnings = diags
	return src, nil
}

// machineID returns the name by which a top file knows this machine.
func machineID(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", failure.Error("Unknown machine ID", "The host name cannot be found out: %s. Give the id with -id.", err)
	}
	return name, nil
}

// Compile makes low data of the files that were read. Its warnings join those of reading.
func (src *Source) Compile(o Options) error {
	tie, err := compile.ParseTie(o.tie)
	if err != nil {
		return failure.Error("Invalid option", "For the option -tie %s.", err)
	}
	low, diags := compile.Compile(src.high, compile.CompileOptions{Tie: tie})
	if diags.HasErrors() {
		return diags
	}
	src.Low, src.Warnings = low, src.Warnings.Extend(diags)
	return nil
}

// HighCommand returns the command that shows SLS files as they were read.
func HighCommand() *session.Command {
	var o Options
	return &session.Command{
		Name:    "high",
		Foreign: true,
		Args:    "ROOT [SLS...]",
		Summary: "Shows SLS files as they are loaded: their high data.",
		Long: "The files are in the directory ROOT, and web.config is web/config.sls there. Without names, ROOT/top.sls says which. " +
			"Nothing is run.",
		Example: "cairn order high states web\ncairn order high -format=yaml states web db",
		MinArgs: 1,
		MaxArgs: 1 << 30,
		Flags: func(f *session.Flags) {
			statesFlags(f, &o)
			f.StringVar(&o.format, "format", "json", "write `json|yaml` (default: json)")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			write, err := dataFormat(o.format, "json or yaml")
			if err != nil {
				return 0, err
			}
			src, err := Open(args, o)
			if err != nil {
				return 0, err
			}
			return cmdline.ExitOK, errors.Join(s.Report(src.Warnings), write(s.Streams.Out, src.high.Value()), src.Close())
		},
	}
}

// LowCommand returns the command that shows SLS files as they are compiled.
func LowCommand() *session.Command {
	var o Options
	var explain cmdline.List
	return &session.Command{
		Name:    "low",
		Foreign: true,
		Args:    "ROOT [SLS...]",
		Summary: "Shows SLS files as the calls they are compiled to: their low data.",
		Long: `
The files are in the directory ROOT, and web.config is web/config.sls there. Without names,
ROOT/top.sls says which. Nothing is run. JSON and YAML have the calls in the order of their numbers;
the text lists them in the order in which they are made, each after its requisites, and steps say
how that comes about. With -explain, only that is said. Calls are named by their ids or names, or as
in "file: motd".`,
		Example: "cairn order low states web\ncairn order low -format=text states web\n" +
			"cairn order low -explain=motd -explain='service: nginx' states web",
		MinArgs: 1,
		MaxArgs: 1 << 30,
		Flags: func(f *session.Flags) {
			statesFlags(f, &o)
			tieFlag(f, &o)
			f.StringVar(&o.format, "format", "json", "write `json|yaml|text|steps|dot|mermaid` (default: json)")
			explain = nil
			f.Var(&explain, "explain", "say which of two calls is made first, and why; to be given twice, each time with a `CALL`")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			write, err := lowFormat(o.format)
			if err != nil {
				return 0, err
			}
			if len(explain) == 1 || len(explain) > 2 {
				return 0, failure.Error("Invalid option", "Two calls can be explained: give the option -explain twice.")
			}
			src, err := Open(args, o)
			if err != nil {
				return 0, err
			}
			err = src.Compile(o)
			if err == nil {
				err = s.Report(src.Warnings)
			}
			switch {
			case err != nil:
			case len(explain) == 2:
				err = explainCalls(s, src.Low, explain)
			default:
				err = write(s, src.Low)
			}
			return cmdline.ExitOK, errors.Join(err, src.Close())
		},
	}
}

// lowFormat returns the writer of low data in a format.
func lowFormat(format string) (func(*session.Session, *compile.Low) error, error) {
	switch format {
	case "text":
		return func(s *session.Session, low *compile.Low) error {
			writeCalls(s, low)
			return nil
		}, nil
	case "steps":
		return func(s *session.Session, low *compile.Low) error {
			for _, step := range low.Steps() {
				s.Line("%s", step)
			}
			return nil
		}, nil
	case "dot", "mermaid":
		return func(s *session.Session, low *compile.Low) error {
			text := lowView(low).DOT
			if format == "mermaid" {
				text = lowView(low).Mermaid
			}
			s.Print("%s", text())
			return nil
		}, nil
	}
	write, err := dataFormat(format, "json, yaml, text, steps, dot or mermaid")
	return func(s *session.Session, low *compile.Low) error { return write(s.Streams.Out, low.Value()) }, err
}

func lowView(low *compile.Low) show.View {
	graph := low.Graph()
	return show.View{Graph: graph, Rule: compile.Rule, Name: func(n int) string { return graph.Node(n).Name }}
}

// explainCalls names the first of two calls, with the reason.
func explainCalls(s *session.Session, low *compile.Low, names []string) error {
	var calls []int
	for _, name := range names {
		found := low.Find(name)
		switch len(found) {
		case 0:
			return failure.Error("Unknown call", "There is no call %q.%s", name, nearest.DidYouMean(name, low.Names()))
		case 1:
			calls = append(calls, found[0])
		default:
			return failure.Error("Ambiguous call", "%q can be %s or %s. Name one of them, as in \"%s: %s\".",
				name, low.Calls[found[0]], low.Calls[found[1]], low.Calls[found[0]].Module, low.Calls[found[0]].Name)
		}
	}
	if calls[0] == calls[1] {
		return failure.Error("Identical calls", "Both name %s. Name two.", low.Calls[calls[0]])
	}
	s.Print("%s", lowView(low).Explanation(low.Explain(calls[0], calls[1])))
	return nil
}

func dataFormat(name, all string) (func(io.Writer, any) error, error) {
	switch name {
	case "json":
		return compile.WriteJSON, nil
	case "yaml":
		return compile.WriteYAML, nil
	}
	return nil, failure.Error("Unknown format", "There is no format %q. Use %s.", name, all)
}

// writeCalls lists calls in the order in which they are made.
func writeCalls(s *session.Session, low *compile.Low) {
	for i, n := range low.Sequence() {
		call := low.Calls[n]
		order := "without a number"
		if call.HasOrder {
			order = "number " + strconv.FormatFloat(call.Order, 'f', -1, 64)
		}
		s.Line("%s. %s, %s (%s)", strconv.Itoa(i+1), call.String(), order, call.Place().String())
		for _, kind := range compile.Kinds() {
			for _, target := range low.Requisites(n, kind) {
				s.Line("   %s: %s", kind, low.Calls[target].String())
			}
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

// statesOptions say how SLS files are read and compiled.
type statesOptions struct {
	load   lowdata.LoadOptions
	tie    string
	format string
}

func (f *flagSet) statesFlags(o *statesOptions) {
	*o = statesOptions{}
	f.StringVar(&o.load.Env, "env", "base", "the name of the environment is `NAME`")
	f.BoolVar(&o.load.NoAutoOrder, "no-auto-order", false, "give calls no numbers by their position (state_auto_order: false)")
}

func (f *flagSet) tieFlag(o *statesOptions) {
	f.StringVar(&o.tie, "tie", "document", "of calls with equal order numbers, compare the parts, or as Salt does all as one text: `document|salt`")
}

// statesSource is a tree of SLS files.
type statesSource struct {
	root *os.Root
	high *lowdata.High
	low  *lowdata.Low
}

func (src *statesSource) close() error { return src.root.Close() }

func (src *statesSource) files() fs.FS { return src.root.FS() }

// openStates reads SLS files. The caller must close the result. Warnings are reported.
func (s *session) openStates(args []string, o statesOptions) (*statesSource, error) {
	root, err := os.OpenRoot(args[0])
	if err != nil {
		return nil, fail("Root of the SLS files cannot be used", "The directory %s cannot be read: %s.", args[0], reason(errors.Unwrap(err)))
	}
	o.load.Dir = args[0]
	src := &statesSource{root: root}
	var diags hcl.Diagnostics
	src.high, diags = lowdata.Load(root.FS(), args[1:], o.load)
	if diags.HasErrors() {
		return nil, errors.Join(diags, root.Close())
	}
	return src, s.report(diags)
}

// compile makes low data of what was read.
func (s *session) compileStates(src *statesSource, o statesOptions) error {
	tie, err := lowdata.ParseTie(o.tie)
	if err != nil {
		return fail("Wrong option", "For the option -tie %s.", err)
	}
	low, diags := lowdata.Compile(src.high, lowdata.CompileOptions{Tie: tie})
	if diags.HasErrors() {
		return diags
	}
	src.low = low
	return s.report(diags)
}

func orderHighCommand() *command {
	var o statesOptions
	return &command{
		name:    "high",
		args:    "ROOT SLS...",
		summary: "Shows SLS files as they are loaded: their high data.",
		long:    "The files are in the directory ROOT, and web.config is web/config.sls there. Nothing is run.",
		example: "cairn order high states web\ncairn order high -format=yaml states web db",
		minArgs: 2, maxArgs: 1 << 30,
		flags: func(f *flagSet) {
			f.statesFlags(&o)
			f.StringVar(&o.format, "format", "json", "one of `json|yaml`")
		},
		run: func(_ context.Context, s *session, args []string) (int, error) {
			write, err := dataFormat(o.format, "json or yaml")
			if err != nil {
				return 0, err
			}
			src, err := s.openStates(args, o)
			if err != nil {
				return 0, err
			}
			return exitOK, errors.Join(write(s.streams.Out, src.high.Value()), src.close())
		},
	}
}

func orderLowCommand() *command {
	var o statesOptions
	return &command{
		name:    "low",
		args:    "ROOT SLS...",
		summary: "Shows SLS files as the calls they are compiled to: their low data.",
		long: `
The files are in the directory ROOT, and web.config is web/config.sls there. Nothing is run. JSON and YAML have the calls in the order of their
numbers; the text lists them in the order in which they are made, each after its requisites, and steps say how that comes about.`,
		example: "cairn order low states web\ncairn order low -format=text states web",
		minArgs: 2, maxArgs: 1 << 30,
		flags: func(f *flagSet) {
			f.statesFlags(&o)
			f.tieFlag(&o)
			f.StringVar(&o.format, "format", "json", "one of `json|yaml|text|steps`")
		},
		run: func(_ context.Context, s *session, args []string) (int, error) {
			write, err := dataFormat(o.format, "json, yaml, text or steps")
			if err != nil && o.format != "text" && o.format != "steps" {
				return 0, err
			}
			src, err := s.openStates(args, o)
			if err != nil {
				return 0, err
			}
			err = s.compileStates(src, o)
			switch {
			case err != nil:
			case o.format == "text":
				s.writeCalls(src.low)
			case o.format == "steps":
				s.stdout("%s\n", strings.Join(src.low.Steps(), "\n"))
			default:
				err = write(s.streams.Out, src.low.Value())
			}
			return exitOK, errors.Join(err, src.close())
		},
	}
}

func dataFormat(name, all string) (func(io.Writer, any) error, error) {
	switch name {
	case "json":
		return lowdata.WriteJSON, nil
	case "yaml":
		return lowdata.WriteYAML, nil
	}
	return nil, fail("Unknown format", "There is no format %q. Use %s.", name, all)
}

// writeCalls lists calls in the order in which they are made.
func (s *session) writeCalls(low *lowdata.Low) {
	for i, n := range low.Sequence() {
		call := low.Calls[n]
		order := "without a number"
		if call.HasOrder {
			order = "number " + strconv.FormatFloat(call.Order, 'f', -1, 64)
		}
		s.stdout("%d. %s, %s\n", i+1, call, order)
		for _, kind := range lowdata.Kinds() {
			for _, target := range low.Requisites(n, kind) {
				s.stdout("   %s: %s\n", kind, low.Calls[target])
			}
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"flag"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func TestParseAll(t *testing.T) {
	for _, test := range []struct {
		args       string
		positional string
		text       string
		yes        bool
	}{
		{args: "", positional: ""},
		{args: "a b", positional: "a b"},
		{args: "-text=x a", positional: "a", text: "x"},
		{args: "--text=x a", positional: "a", text: "x"},
		{args: "-text x a", positional: "a", text: "x"},
		{args: "a -text x b", positional: "a b", text: "x"},
		{args: "a b -yes", positional: "a b", yes: true},
		{args: "a -yes=false b", positional: "a b"},
		{args: "-yes a -text=1 b -text=2", positional: "a b", text: "2", yes: true},
		{args: "a -- -yes b", positional: "a -yes b"},
		{args: "-- -yes", positional: "-yes"},
		{args: "-", positional: "-"},
		{args: "- -yes", positional: "-", yes: true},
		{args: "-text=a=b", text: "a=b"},
	} {
		t.Run(test.args, func(t *testing.T) {
			f := newSession(Streams{}, dependencies{}).newFlags(&command{name: "x"})
			text, yes := f.String("text", "", ""), f.Bool("yes", false, "")
			positional, err := f.parseAll(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(positional, " "); got != test.positional || *text != test.text || *yes != test.yes {
				t.Errorf("got %q, text %q, yes %t", got, *text, *yes)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"apply", "plan", "state", "validate", "version"}
	for given, want := range map[string]string{
		"plna":       ` Did you mean "plan"?`,
		"pln":        ` Did you mean "plan"?`,
		"aply":       ` Did you mean "apply"?`,
		"validaet":   ` Did you mean "validate"?`,
		"stat":       ` Did you mean "state"?`,
		"xyzzy":      "",
		"frobnicate": "",
	} {
		if got := didYouMean(given, names, ""); got != want {
			t.Errorf("didYouMean(%q): got %q, want %q", given, got, want)
		}
	}
}

// Every command says what it does, how it is called and gives an example, and its options have a usage.
func TestHelpIsComplete(t *testing.T) {
	s := newSession(Streams{}, dependencies{})
	var check func(c *command)
	check = func(c *command) {
		flags := s.newFlags(c)
		if c.flags != nil {
			c.flags(flags)
		}
		if c.summary == "" || !strings.HasSuffix(c.summary, ".") {
			t.Errorf("%s: summary %q", c.path(), c.summary)
		}
		if c.name != "cairn" && !strings.Contains(c.example, c.path()) {
			t.Errorf("%s: the example is %q", c.path(), c.example)
		}
		if c.run == nil && len(c.commands) == 0 {
			t.Errorf("%s: must run or have commands", c.path())
		}
		flags.VisitAll(func(option *flag.Flag) {
			if option.Usage == "" {
				t.Errorf("%s: option -%s has no usage", c.path(), option.Name)
			}
		})
		for _, sub := range c.commands {
			check(sub)
		}
	}
	check(rootCommand())
}

func TestIsOpen(t *testing.T) {
	for source, want := range map[string]bool{
		"":                  false,
		"1 + 2\n":           false,
		"[\n":               true,
		"[1,\n2]\n":         false,
		"{ a = [\n":         true,
		"f(\n":              true,
		"\"${\n":            true,
		"\"${a}\"\n":        false,
		"<<EOT\nx\n":        true,
		"<<EOT\nx\nEOT\n":   false,
		"]\n":               false,
		"\"%{ if a }\n\"\n": false,
	} {
		if got := isOpen(source); got != want {
			t.Errorf("isOpen(%q): got %t, want %t", source, got, want)
		}
	}
}

func TestNameStart(t *testing.T) {
	for line, want := range map[string]string{
		"":                        "",
		"var.x":                   "var.x",
		"1 + var.x":               "var.x",
		"f(component.a":           "component.a",
		`component.a["k"].out`:    `component.a["k"].out`,
		`x[component.a["k"].out`:  `component.a["k"].out`,
		"[for k, v in component.": "component.",
	} {
		if got := line[nameStart(line):]; got != want {
			t.Errorf("nameStart(%q): got %q, want %q", line, got, want)
		}
	}
}

func objectAddresses(t *testing.T, state engine.State) string {
	t.Helper()
	objects, err := tfstate.ParseObjects(state)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, object := range objects {
		b.WriteString(object.Addr.String() + "\n")
	}
	return b.String()
}

func TestWithoutResource(t *testing.T) {
	const state = `{"version":4,"serial":3,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[
		{"mode":"managed","type":"a","name":"x","provider":"p","instances":[
			{"index_key":0,"attributes":{}},{"index_key":1,"attributes":{}},{"index_key":1,"deposed":"0123abcd","attributes":{}}]},
		{"module":"module.m","mode":"managed","type":"a","name":"x","provider":"p","instances":[{"index_key":1,"attributes":{}}]}]}`
	got, err := withoutResource([]byte(state), "a.x[1]")
	if err != nil {
		t.Fatal(err)
	}
	if kept, want := objectAddresses(t, got), "a.x[0]\nmodule.m.a.x[1]\n"; kept != want {
		t.Errorf("kept:\n%swant:\n%s", kept, want)
	}
	if !strings.Contains(string(got), `"lineage":"l"`) || !strings.Contains(string(got), `"outputs"`) {
		t.Errorf("the rest has changed: %s", got)
	}
}

// Help texts fit a terminal of 100 columns, but for examples and what is a table already.
func TestHelpWidth(t *testing.T) {
	s := newSession(Streams{}, dependencies{})
	var check func(c *command)
	check = func(c *command) {
		flags := s.newFlags(c)
		if c.flags != nil {
			c.flags(flags)
		}
		text, _, _ := strings.Cut(c.help(flags), "\nExample:\n")
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > helpWidth && !strings.Contains(line, "  ") {
				t.Errorf("%s -h is wider than %d columns: %s", c.path(), helpWidth, line)
			}
		}
		for _, sub := range c.commands {
			check(sub)
		}
	}
	check(rootCommand())
}

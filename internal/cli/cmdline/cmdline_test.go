// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// options are the session of the program that tests use.
type options struct {
	dir, text string
	yes, json bool
	count     Count
	list      List
	file      File
}

type (
	command = Command[*options]
	flags   = Flags[*options]
)

func nothing(context.Context, *options, []string) (int, error) { return 0, nil }

func newProgram() *Program[*options] {
	text := func(f *flags) {
		f.StringVar(&f.Session.text, "text", "", "print this `TEXT`")
		f.BoolVar(&f.Session.yes, "yes", false, "do not ask")
		f.BoolVar(&f.Session.json, "json", false, "write JSON")
	}
	return New(Program[*options]{
		Root: &command{
			Name: "tool", Summary: "Does things.",
			Commands: []*command{
				{
					Name:    "build",
					Args:    "[FILE]...",
					Summary: "Builds.",
					Long:    "One paragraph.\n\na  table\nb  table",
					Example: "tool build x",
					MaxArgs: 9,
					Flags:   text,
					Run:     nothing,
				},
				{Name: "state", Summary: "Holds commands.", Commands: []*command{
					{Name: "list", Summary: "Lists.", Run: nothing},
					{Name: "move", Args: "FROM TO", Summary: "Moves.", MinArgs: 2, MaxArgs: 2, Run: nothing, Flags: func(f *flags) {
						f.Var(&f.Session.count, "count", "at most `N`")
					}},
				}},
				{Name: "run", Args: "-- PROGRAM", Summary: "Runs a program.", PassesOn: true, MaxArgs: 9, Run: nothing, Flags: func(f *flags) {
					f.Var(&f.Session.list, "with", "use `plain|fancy`; may be repeated")
				}, Commands: []*command{{Name: "plan", Summary: "Plans.", Run: nothing}, {Name: "build", Summary: "Builds.", Run: nothing}}},
				{Name: "pick", Args: "STACK [STACK]", Summary: "Picks.", Foreign: true, MaxArgs: 2, Run: nothing, Flags: func(f *flags) {
					f.Var(&f.Session.file, "out", "write to `FILE`")
				}},
				{Name: "help", Args: "[COMMAND]", Summary: "Helps.", MaxArgs: 2, Run: nothing},
			},
		},
		NewSession: func() *options { return &options{} },
		Global:     func(f *flags) { f.StringVar(&f.Session.dir, "chdir", f.Session.dir, "go to `DIR` first") },
		Hints: Hints{
			Commands: map[string]string{"tool make": "It is \"tool build\"."},
			Options:  map[string]string{"force": "Nothing is ever asked twice."},
		},
		FileArgs:   []string{"FILE"},
		ListedArgs: map[string]string{"STACK": "stacks"},
	})
}

// Options stand wherever they like behind the name of their command (rules C1 and C2).
func TestParse(t *testing.T) {
	for args, want := range map[string]struct {
		command, args string
		session       options
	}{
		"build":                          {command: "tool build"},
		"build a b":                      {command: "tool build", args: "a b"},
		"build -text=x a":                {command: "tool build", args: "a", session: options{text: "x"}},
		"build --text=x a":               {command: "tool build", args: "a", session: options{text: "x"}},
		"build a -text x b":              {command: "tool build", args: "a b", session: options{text: "x"}},
		"build a b -yes":                 {command: "tool build", args: "a b", session: options{yes: true}},
		"build a -yes=false b":           {command: "tool build", args: "a b"},
		"build -yes a -text=1 b -text=2": {command: "tool build", args: "a b", session: options{yes: true, text: "2"}},
		"build a -- -yes b":              {command: "tool build", args: "a -yes b"},
		"build -- -yes":                  {command: "tool build", args: "-yes"},
		"build - -yes":                   {command: "tool build", args: "-", session: options{yes: true}},
		"build -text=a=b":                {command: "tool build", session: options{text: "a=b"}},
		"-chdir=d build":                 {command: "tool build", session: options{dir: "d"}},
		"-chdir d state list -chdir=e":   {command: "tool state list", session: options{dir: "e"}},
		"state move a -count=3 b":        {command: "tool state move", args: "a b", session: options{count: 3}},
		"run -with=plain -- ls -l":       {command: "tool run", args: "ls -l", session: options{list: List{"plain"}}},
		"run ls -l":                      {command: "tool run", args: "ls -l"},
		"run plan":                       {command: "tool run plan"},
		"run -- plan":                    {command: "tool run", args: "plan"},
	} {
		t.Run(args, func(t *testing.T) {
			var session options
			inv, err := newProgram().Parse(&session, strings.Fields(args))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(inv.Args, " "); inv.Command.Path() != want.command || got != want.args || inv.Help != NoHelp {
				t.Errorf("Parse: %s with %q, want %s with %q", inv.Command.Path(), got, want.command, want.args)
			}
			if diff := gocmp.Diff(want.session, session, gocmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("Parse: the session (-want +got):\n%s", diff)
			}
		})
	}
}

// A mistake is named as it was typed, with a suggestion (rule C3).
func TestParseMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"biuld":          `There is no command "biuld". Did you mean "build"? Run "tool -h" for a list of commands.`,
		"make":           `There is no command "make". It is "tool build".`,
		"state mov a b":  `There is no command "mov". Did you mean "move"? Run "tool state -h" for a list of commands.`,
		"build -txt=a":   `There is no option -txt for "tool build". Did you mean "-text"? Run "tool build -h" for a list of options.`,
		"build -force":   `There is no option -force for "tool build". Nothing is ever asked twice.`,
		"build -count=3": `There is no option -count for "tool build". Run "tool build -h" for a list of options.`,
		"pick -text=a": `There is no option -text for "tool pick". It is an option of "tool build". ` +
			`Run "tool pick -h" for a list of options.`,
		"run build -text=a": `There is no option -text for "tool run build". It is an option of "tool build". ` +
			`Run "tool run build -h" for a list of options.`,
		"-text=a build":           `The option -text stands before "build". Options of a command stand after its name: tool build -text`,
		"build -yes=maybe":        `Invalid boolean value "maybe" for -yes: parse error. Run "tool build -h" for help.`,
		"state move a":            `The command needs: tool state move FROM TO. Run "tool state move -h" for an example.`,
		"state move a b c":        `The argument "c" is one too many: tool state move FROM TO.`,
		"state list x":            `The command takes no arguments besides options, but there is "x". Run "tool state list -h" for help.`,
		"pick -out=":              `Invalid value "" for flag -out: it must name a file. Run "tool pick -h" for help.`,
		"state move -count=0 a b": `Invalid value "0" for flag -count: must be a whole number from 1. Run "tool state move -h" for help.`,
	} {
		t.Run(args, func(t *testing.T) {
			_, err := newProgram().Parse(&options{}, strings.Fields(args))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Parse: %v, want %q", err, want)
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	for args, want := range map[string]struct {
		command string
		help    Help
	}{
		"":                    {"tool", CommandMissing},
		"-h":                  {"tool", HelpRequested},
		"state":               {"tool state", CommandMissing},
		"state -help":         {"tool state", HelpRequested},
		"build a -h":          {"tool build", HelpRequested},
		"-chdir=x run -h":     {"tool run", HelpRequested},
		"state move -h a b c": {"tool state move", HelpRequested},
	} {
		t.Run(args, func(t *testing.T) {
			inv, err := newProgram().Parse(&options{}, strings.Fields(args))
			if err != nil || inv.Command.Path() != want.command || inv.Help != want.help {
				t.Errorf("Parse: %+v, %v; want %+v", inv, err, want)
			}
		})
	}
}

// Programs that read output want JSON of mistakes in their arguments, too.
func TestParseSeesJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"build -json -frob":   true,
		"build -frob --json":  true,
		"build -- -json":      false,
		"state list -json":    false, // there is none
		"build -json=false x": false,
	} {
		inv, _ := newProgram().Parse(&options{}, strings.Fields(args)) // most are wrong
		if inv.JSON != want {
			t.Errorf("Parse(%q): JSON %t, want %t", args, inv.JSON, want)
		}
	}
}

func TestHelp(t *testing.T) {
	program := newProgram()
	c, err := program.Find([]string{"build"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `Usage: tool build [options] [FILE]...

Builds.

One paragraph.

a  table
b  table

Options:
  -json       write JSON
  -text=TEXT  print this TEXT
  -yes        do not ask

Options of all commands:
  -chdir=DIR  go to DIR first

Example:
  tool build x
`
	if diff := gocmp.Diff(want, program.Help(c, HelpWidth)); diff != "" {
		t.Errorf("Help (-want +got):\n%s", diff)
	}
	if root := program.Help(program.Root, 10); !strings.Contains(root, "Usage: tool COMMAND [options]") ||
		!strings.Contains(root, "\nCommands for files of other programs:\n  pick ") {
		t.Errorf("Help: %s", root)
	}
}

// The scripts are such that the shells take them.
func TestCompletionIsSyntax(t *testing.T) {
	for _, shell := range Shells() {
		script := newProgram().Completion(shell)
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not there; its script is only looked at", shell)
		} else {
			cmd := exec.CommandContext(t.Context(), path, "-n")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v: %s", shell, err, out)
			}
		}
		for _, part := range []string{"build", "move", "plain", "fancy", "tool"} {
			if !strings.Contains(script, part) {
				t.Errorf("the script for %s has nothing of %q", shell, part)
			}
		}
	}
}

// In bash, which the gate itself needs, completion completes.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is not on PATH: the gate needs it, too")
	}
	for typed, want := range map[string]string{
		"":              "build help pick run state",
		"st":            "state",
		"state ":        "list move",
		"state move -c": "-chdir= -count=",
		"run -with=":    "fancy plain",
		"help ":         "build pick run state",
		"pick ":         "a b",
		"build -y":      "-yes",
	} {
		words := append([]string{"tool"}, strings.Split(strings.Replace(typed, "=", " = ", 1), " ")...)
		script := newProgram().Completion("bash") + `
tool() { [[ "$*" == "stacks" ]] && printf 'a\nb\n'; }
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tool
printf '%s\n' "${COMPREPLY[@]}" | grep -v '^-' | sort
printf '%s\n' "${COMPREPLY[@]}" | grep '^-' | sort
`
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", script, "bash"}, words...)...)
		out, _ := cmd.CombinedOutput() // grep ends with 1 if there are no options
		got := strings.Fields(string(out))
		if !strings.HasPrefix(typed, "-") && !strings.Contains(typed, " -") {
			for len(got) > 0 && strings.HasPrefix(got[len(got)-1], "-") {
				got = got[:len(got)-1]
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("completing %q: %q, want %q", typed, got, want)
		}
	}
}

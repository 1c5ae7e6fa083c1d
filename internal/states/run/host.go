// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// Host is the machine that functions change. It implements [schedule.Functions].
type Host struct {
	// Files is the root of the SLS files, from which sources are taken. It should not lead out of
	// that, as that of an [os.Root] does not.
	Files fs.FS

	// Folder has programs named MODULE.FUNCTION, which come before the functions that cairn has.
	// Empty: there are none.
	Folder string

	// Backups is the folder for files that are replaced, if that is asked for. Empty: there is none.
	Backups string

	// Runner runs commands; nil for the real ones.
	Runner Runner

	// Systemd reports whether services are those of systemd; nil to find out.
	Systemd func() bool

	apt apt
}

var _ schedule.Functions = (*Host)(nil)

// function is one that cairn has.
type function struct {
	args   map[string]kind
	any    bool // accepts arguments that are not listed
	checks bool // uses "check_cmd" itself

	check func(*call) error // of rules beyond the kinds of arguments; may be nil
	call  func(context.Context, *call) schedule.Outcome
	react func(context.Context, *call) schedule.Outcome // nil if there is no reaction
}

// functions are all that cairn has, by "module.function".
var functions = sync.OnceValue(func() map[string]*function {
	all := map[string]*function{}
	for _, some := range []map[string]*function{commandFunctions(), fileFunctions(), packageFunctions(), serviceFunctions(), testFunctions()} {
		maps.Copy(all, some)
	}
	return all
})

// Names returns the names of all functions that cairn has, sorted.
func Names() []string { return slices.Sorted(maps.Keys(functions())) }

// call is one call with all that it needs.
type call struct {
	schedule.Request
	host *Host
}

// Reacts implements [schedule.Functions].
func (h *Host) Reacts(module, name string) bool {
	if _, ok := h.program(module, name); ok {
		_, ok := h.program(module, reaction)
		return ok
	}
	f := functions()[module+"."+name]
	return f != nil && f.react != nil
}

// Call implements [schedule.Functions].
func (h *Host) Call(ctx context.Context, req schedule.Request) schedule.Outcome {
	c := &call{Request: req, host: h}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	if !req.Reaction || req.Late {
		needed, err := c.needed(ctx)
		switch {
		case err != nil:
			return failed("%s.", upperFirst(err.Error()))
		case needed != "":
			return schedule.Outcome{Needless: true, Comment: needed}
		}
	}
	outcome, checked := h.make(ctx, c)
	idle := req.Reaction && !outcome.Changed && !outcome.Failed
	if checked || idle || req.Test || !c.given("check_cmd") {
		return outcome
	}
	return c.verified(ctx, outcome)
}

// make makes a call without its conditions. Checked says that it is not for "check_cmd" to decide
// whether it has succeeded.
func (h *Host) make(ctx context.Context, c *call) (outcome schedule.Outcome, checked bool) {
	if program, ok := h.program(c.Module, c.Function); ok {
		return c.runProgram(ctx, program), false
	}
	f := functions()[c.Module+"."+c.Function]
	switch {
	case f == nil:
		return failed("There is no function %s.%s.", c.Module, c.Function), true
	case c.Reaction && f.react == nil:
		return schedule.Outcome{}, true
	case c.Reaction:
		return f.react(ctx, c), f.checks
	}
	if f.check != nil {
		if err := f.check(c); err != nil {
			return failed("%s.", upperFirst(err.Error())), true
		}
	}
	return f.call(ctx, c), f.checks
}

func failed(comment string, args ...any) schedule.Outcome {
	return schedule.Outcome{Failed: true, Comment: fmt.Sprintf(comment, args...)}
}

// Check finds the faults of calls before any of them is made.
func (h *Host) Check(calls []*compile.Call) hcl.Diagnostics {
	var diags hcl.Diagnostics
	known := functions()
	for _, one := range calls {
		diags = diags.Extend(h.check(one, known))
	}
	return diags
}

func (h *Host) check(one *compile.Call, known map[string]*function) hcl.Diagnostics {
	var diags hcl.Diagnostics
	c := &call{Request: schedule.RequestFor(one, true), host: h}
	_, isProgram := h.program(c.Module, c.Function)
	f := known[c.Module+"."+c.Function]
	if !isProgram && f == nil {
		return hcl.Diagnostics{h.unknown(one)}
	}
	for _, entry := range c.Args.Entries {
		// A program reads its arguments itself: only the conditions, which cairn heeds, are known.
		expected, listed := conditions[entry.Key]
		if !listed && !isProgram {
			expected, listed = f.args[entry.Key]
		}
		switch {
		case !listed && (isProgram || f.any):
		case !listed && unsupported[entry.Key] != "":
			diags = diags.Append(problem.New(problem.UnknownKey, one.ArgRange(entry.Key), "Unsupported argument",
				"The argument %q of %s.%s is not supported: %s.", entry.Key, c.Module, c.Function, unsupported[entry.Key]))
		case !listed:
			diags = diags.Append(problem.New(problem.UnknownKey, one.ArgRange(entry.Key), "Unknown argument",
				"The function %s.%s has no argument %q.%s It has: %s.", c.Module, c.Function, entry.Key,
				nearest.DidYouMean(entry.Key, argNames(f)), strings.Join(argNames(f), ", ")))
		case !expected.accepts(entry.Value):
			diags = diags.Append(problem.New(problem.Syntax, one.ArgRange(entry.Key), "Invalid argument type",
				"The argument %q of %s.%s must be %s.", entry.Key, c.Module, c.Function, expected.words))
		}
	}
	if !diags.HasErrors() && !isProgram && f.check != nil {
		if err := f.check(c); err != nil {
			subject := one.Range
			if wrong, ok := errors.AsType[*argumentError](err); ok {
				subject = one.ArgRange(wrong.name)
			}
			diags = diags.Append(problem.New(problem.Syntax, subject, "Invalid call", "%s: %s.", one, err))
		}
	}
	return diags
}

// unsupported says why arguments that Salt knows are errors here. To leave them out of account
// would do something else than is asked for.
var unsupported = map[string]string{
	"template":        "cairn renders no templates. Write out the file as it shall be",
	"context":         "cairn renders no templates. Write out the file as it shall be",
	"defaults":        "cairn renders no templates. Write out the file as it shall be",
	"contents_pillar": "there are no pillars. Use \"contents\" or \"source\"",
	"contents_grains": "there are no grains. Use \"contents\" or \"source\"",
	"source_hash":     "sources are files below the root of the SLS files, which need no check. Leave it out",
	"skip_verify":     "sources are files below the root of the SLS files, which need no check. Leave it out",
	"clean":           "directories are not emptied. Remove files in the way with file.absent",
	"recurse":         "only the directory itself is managed. Use a command for its content",
	"runas_password":  "it is for Windows only. Leave it out",
}

// argumentError is the fault of an argument.
type argumentError struct {
	name, text string
}

func (e *argumentError) Error() string { return e.text }

func wrongArgument(name, text string, args ...any) error {
	return &argumentError{name, fmt.Sprintf(text, args...)}
}

func argNames(f *function) []string {
	names := slices.Concat([]string{"name"}, slices.Collect(maps.Keys(f.args)), slices.Collect(maps.Keys(conditions)))
	slices.Sort(names)
	return slices.Compact(names)
}

func (h *Host) unknown(one *compile.Call) *hcl.Diagnostic {
	name := one.Module + "." + one.Function
	if why := h.notProgram(name); why != "" {
		return problem.New(problem.UnknownRef, one.Range, "Unknown function",
			"cairn has no function %q, and the file of that name in the folder %s %s.",
			name, h.Folder, why)
	}
	where := "give a folder of functions that has a program of this name"
	if h.Folder != "" {
		where = "put a program of this name into the folder " + h.Folder
	}
	return problem.New(problem.UnknownRef, one.Range, "Unknown function", "cairn has no function %q.%s To run it, %s.",
		name, nearest.DidYouMean(name, h.allNames()), where)
}

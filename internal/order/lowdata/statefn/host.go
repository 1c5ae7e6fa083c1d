// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

// Host is the machine that functions change. It implements [lowdata.Functions].
type Host struct {
	// Files is the root of the SLS files, from which sources are taken. It should not lead out of that, as that of an [os.Root]
	// does not.
	Files fs.FS

	// Folder has programs named MODULE.FUNCTION, which come before the functions that cairn has. Empty: there are none.
	Folder string

	// Runner runs commands; nil for the real ones.
	Runner Runner

	// Systemd tells whether services are those of systemd; nil to find out.
	Systemd func() bool
}

var _ lowdata.Functions = (*Host)(nil)

// function is one that cairn has.
type function struct {
	args map[string]kind
	any  bool // accepts arguments that are not listed

	check func(*call) error // of what the kinds of arguments do not say; may be nil
	call  func(context.Context, *call) lowdata.Outcome
	react func(context.Context, *call) lowdata.Outcome // nil if there is no reaction
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
	lowdata.Request
	host *Host
}

// Reacts implements [lowdata.Functions].
func (h *Host) Reacts(module, name string) bool {
	if _, ok := h.program(module, name); ok {
		_, ok := h.program(module, reaction)
		return ok
	}
	f := functions()[module+"."+name]
	return f != nil && f.react != nil
}

// Call implements [lowdata.Functions].
func (h *Host) Call(ctx context.Context, req lowdata.Request) lowdata.Outcome {
	c := &call{Request: req, host: h}
	if !req.Reaction {
		needed, err := c.needed(ctx)
		switch {
		case err != nil:
			return failed("%s", err)
		case needed != "":
			return lowdata.Outcome{Comment: needed}
		}
	}
	if program, ok := h.program(req.Module, req.Function); ok {
		return c.runProgram(ctx, program)
	}
	f := functions()[req.Module+"."+req.Function]
	switch {
	case f == nil:
		return failed("There is no function %s.%s.", req.Module, req.Function)
	case req.Reaction && f.react == nil:
		return lowdata.Outcome{}
	case req.Reaction:
		return f.react(ctx, c)
	}
	if f.check != nil {
		if err := f.check(c); err != nil {
			return failed("%s", err)
		}
	}
	return f.call(ctx, c)
}

func failed(comment string, args ...any) lowdata.Outcome {
	return lowdata.Outcome{Failed: true, Comment: fmt.Sprintf(comment, args...)}
}

// Check finds what is wrong with calls before any of them is made.
func (h *Host) Check(calls []*lowdata.Call) hcl.Diagnostics {
	var diags hcl.Diagnostics
	known := functions()
	for _, one := range calls {
		diags = diags.Extend(h.check(one, known))
	}
	return diags
}

func (h *Host) check(one *lowdata.Call, known map[string]*function) hcl.Diagnostics {
	var diags hcl.Diagnostics
	c := &call{Request: one.Request(), host: h}
	_, isProgram := h.program(c.Module, c.Function)
	f := known[c.Module+"."+c.Function]
	if !isProgram && f == nil {
		return hcl.Diagnostics{h.unknown(one, known)}
	}
	for _, entry := range c.Args.Entries {
		expected, listed := conditions[entry.Key]
		if !listed && !isProgram {
			expected, listed = f.args[entry.Key]
		}
		switch {
		case !listed && (isProgram || f.any):
		case !listed:
			diags = diags.Append(order.Problem(order.CodeUnknownKey, one.ArgRange(entry.Key), "Unknown argument",
				"The function %s.%s has no argument %q.%s It has: %s.", c.Module, c.Function, entry.Key,
				order.DidYouMean(entry.Key, slices.Collect(maps.Keys(f.args))), strings.Join(argNames(f), ", ")))
		case !expected.accepts(entry.Value):
			diags = diags.Append(order.Problem(order.CodeSyntax, one.ArgRange(entry.Key), "Wrong type of argument",
				"The argument %q of %s.%s must be %s.", entry.Key, c.Module, c.Function, expected.words()))
		}
	}
	if !diags.HasErrors() && !isProgram && f.check != nil {
		if err := f.check(c); err != nil {
			diags = diags.Append(order.Problem(order.CodeSyntax, one.Range, "Call that cannot be made", "%s: %s", one, err))
		}
	}
	return diags
}

func argNames(f *function) []string {
	names := slices.Concat(slices.Collect(maps.Keys(f.args)), slices.Collect(maps.Keys(conditions)))
	slices.Sort(names)
	return slices.Compact(names)
}

func (h *Host) unknown(one *lowdata.Call, known map[string]*function) *hcl.Diagnostic {
	name := one.Module + "." + one.Function
	where := "name a folder that has a program of this name with -functions=DIR"
	if h.Folder != "" {
		where = "put a program of this name into the folder " + h.Folder
	}
	return order.Problem(order.CodeUnknownRef, one.Range, "Unknown function", "cairn has no function %q.%s To run it, %s.",
		name, order.DidYouMean(name, slices.Collect(maps.Keys(known))), where)
}

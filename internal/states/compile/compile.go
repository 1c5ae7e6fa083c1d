// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// CompileOptions say how calls are ordered.
type CompileOptions struct {
	Tie Tie
}

// Compile makes low data of high data. With errors there is none.
func Compile(high *High, opts CompileOptions) (*Low, hcl.Diagnostics) {
	c := &compiler{high: high, budget: order.ReferenceBudget}
	c.expand()
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	c.number()
	c.turnAround()
	c.takeOver()
	c.exclude()
	c.sort(opts.Tie)
	c.resolve()
	for _, call := range c.calls {
		call.writeRequisites()
	}
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	low, diags := newLow(c.calls)
	return low, c.diags.Extend(diags)
}

type compiler struct {
	high     *High
	calls    []*Call
	excluded []*Call
	index    *index
	hints    nearest.Hints
	budget   order.Budget
	diags    hcl.Diagnostics
}

// find returns the calls that a requisite of a call names. Without ok there was too much to find,
// which is reported once.
func (c *compiler) find(r Requisite, of int) (found []int, ok bool) {
	exhausted := func() {
		c.problem(problem.Syntax, r.Range, "Too many calls required",
			"The requisites up to here name more than %d calls, or take more comparisons than would be done in seconds. "+
				"Name single calls, or fewer of them.", order.MaxReferenced)
	}
	if !c.budget.Spend(c.index.cost(r), exhausted) {
		return nil, false
	}
	found = c.index.match(r, of)
	return found, c.budget.Spend(len(found)*order.StepsPerReferenced, exhausted)
}

func (c *compiler) problem(code problem.Code, subject *hcl.Range, summary, detail string, args ...any) {
	c.diags = c.diags.Append(problem.New(code, subject, summary, detail, args...))
}

// expand makes a call of each function and name.
func (c *compiler) expand() {
	for _, id := range c.high.IDs {
		for _, module := range id.Modules {
			names := module.arg("names")
			if names == nil {
				c.add(id, module, nil, 0)
				continue
			}
			list, ok := names.Value.([]any)
			if !ok || len(list) == 0 {
				c.problem(problem.NotASet, names.Range, "Invalid names argument",
					"The argument \"names\" must be a list of names, but this is a %s.", describe(names.Value))
				continue
			}
			for i, name := range list {
				c.add(id, module, name, i+1)
			}
		}
	}
}

func describe(value any) string {
	if list, ok := value.([]any); ok && len(list) == 0 {
		return "list without any"
	}
	return kindOf(value)
}

// add adds the call for one of the names of a module; nth is 0 if it has but one.
func (c *compiler) add(id *ID, module *Module, name any, nth int) {
	call := &Call{
		ID: id.Name, SLS: id.SLS, Env: id.Env, Module: module.Name, Function: module.Function, Name: id.Name, Args: &Map{},
		Range: module.Range, position: len(c.calls), file: id.file, nth: nth,
		requisites: map[string][]Requisite{}, targets: map[string][]int{}, named: map[string][]int{}, ranges: map[string]*hcl.Range{},
	}
	call.Args.Set("name", nil) // to be the first
	if module.AutoOrder > 0 {
		call.number = int64(module.AutoOrder)
	}
	for _, arg := range module.Args {
		c.setArg(call, arg)
	}
	if nth > 0 {
		c.setName(call, name, module.arg("names").Range)
	}
	call.Args.Set("name", call.Name)
	c.calls = append(c.calls, call)
}

// setName takes a name out of a list. It may be a mapping from the name to arguments of its own.
func (c *compiler) setName(call *Call, name any, subject *hcl.Range) {
	var own []any
	if m, ok := name.(*Map); ok && m.Len() == 1 {
		name = m.Entries[0].Key
		own, ok = m.Entries[0].Value.([]any)
		if !ok {
			own = []any{m.Entries[0].Value}
		}
	}
	text, ok := Text(name)
	if !ok || text == "" {
		c.problem(problem.Syntax, subject, "Invalid name",
			"An entry of \"names\" must be a name, or a name with a list of arguments; there is a %s.", kindOf(name))
		return
	}
	for _, one := range own {
		args, ok := one.(*Map)
		if !ok {
			c.problem(problem.Syntax, subject, "Invalid argument",
				"The arguments of the name %q must be \"- NAME: VALUE\"; there is a %s.", text, kindOf(one))
			return
		}
		for _, entry := range args.Entries {
			if isRequisite(entry.Key) {
				c.problem(problem.Syntax, subject, "Requisite of a single name",
					"The name %q has the argument %q, but requisites are those of all names. Give %[1]q an id of its own.", text, entry.Key)
				continue
			}
			c.setArg(call, Arg{Name: entry.Key, Value: entry.Value, Range: subject})
		}
	}
	call.Name = text
}

func (c *compiler) setArg(call *Call, arg Arg) {
	call.ranges[arg.Name] = arg.Range
	switch arg.Name {
	case "order":
		call.number = arg.Value
		return
	case "names":
		return
	case "name":
		text, ok := Text(arg.Value)
		if !ok || text == "" {
			c.problem(problem.Syntax, arg.Range, "Invalid name", "The argument \"name\" must be a string; this is a %s.", kindOf(arg.Value))
			return
		}
		call.Name = text
		return
	case "failhard":
		if value, ok := c.boolean(arg); ok {
			call.Failhard = &value
		}
	case "parallel":
		call.Parallel, _ = c.boolean(arg)
	case "retry":
		call.Retry = c.retry(arg)
	}
	if why := withoutEffect(arg.Name); why != "" {
		c.diags = c.diags.Append(problem.Warning(problem.UnknownKey, arg.Range, "Argument without effect",
			"The argument %q has no effect here: %s. Leave it out, unless Salt reads this file, too.", arg.Name, why))
	}
	if reserved(arg.Name) {
		c.problem(problem.Syntax, arg.Range, "Reserved argument", "The argument %q is set by the compiler. Leave it out.", arg.Name)
		return
	}
	if isRequisite(arg.Name) {
		call.requisites[arg.Name] = slices.Clone(arg.Requisites)
	}
	call.Args.Set(arg.Name, arg.value())
}

func (c *compiler) boolean(arg Arg) (value, ok bool) {
	value, ok = arg.Value.(bool)
	if !ok {
		c.problem(problem.Syntax, arg.Range, "Invalid "+arg.Name,
			"The argument %q must be true or false; this is a %s.", arg.Name, kindOf(arg.Value))
	}
	return value, ok
}

func reserved(name string) bool {
	switch name {
	case "state", "fun", "__id__", "__sls__", "__env__":
		return true
	}
	return false
}

// writeRequisites shows requisites among the arguments as they are after compiling.
func (c *Call) writeRequisites() {
	shown := &Map{}
	for _, entry := range c.Args.Entries {
		if !isRequisite(entry.Key) || len(c.requisites[entry.Key]) > 0 {
			shown.Set(entry.Key, entry.Value)
		}
	}
	for _, kind := range kinds {
		if len(c.requisites[kind]) > 0 {
			shown.Set(kind, requisiteValues(c.requisites[kind]))
		}
	}
	c.Args = shown
}

// limit returns the number that comes after all whole ones that are given or counted. For this,
// calls are looked at file by file, each before the files it includes, although these are loaded
// first (line C-24).
func (c *compiler) limit() float64 {
	limit := 1.0 // not an integer, which could overflow
	for _, call := range slices.SortedStableFunc(slices.Values(c.calls), func(a, b *Call) int { return cmp.Compare(a.file, b.file) }) {
		if n, ok := call.number.(int64); ok && float64(n) > limit-1 && n > 0 {
			limit = float64(n) + 100
		}
	}
	return limit
}

// number gives each call its order (lines C-21 to C-26).
func (c *compiler) number() {
	limit := c.limit()
	const aMillion = 1_000_000
	for _, call := range c.calls {
		call.HasOrder = call.number != nil || !c.high.noAutoOrder
		switch n := call.number.(type) {
		case nil:
			call.Order = limit
		case int64:
			call.Order = float64(n)
		case float64:
			call.Order = n
		case string:
			call.Order = orderWord(n, limit, aMillion)
		default:
			c.problem(problem.BadNumber, call.ranges["order"], "Invalid order",
				"The argument \"order\" must be a number, \"first\" or \"last\"; this is a %s.", kindOf(n))
		}
		call.Order += float64(call.nth) / 10_000
		if call.Order < 0 {
			call.Order += limit + aMillion
		}
		if call.Order-call.Order != 0 {
			c.problem(problem.BadNumber, call.ranges["order"], "Invalid order", "The argument \"order\" must be a finite number.")
		}
	}
}

// orderWord returns the order number that a word stands for.
func orderWord(word string, limit, aMillion float64) float64 {
	switch word {
	case "first":
		return 0
	case "last":
		return limit + aMillion
	}
	return limit
}

// exclude leaves out ids and files (line C-16).
func (c *compiler) exclude() {
	ids, files := map[string]bool{}, map[string]bool{}
	for _, exclusion := range c.high.Exclude {
		switch {
		case exclusion.ID != "" && c.high.find(exclusion.ID) == nil:
			c.diags = c.diags.Append(problem.Warning(problem.UnknownRef, exclusion.Range, "Exclusion of an unknown ID",
				"No loaded SLS declares the id %q, so that nothing is excluded.%s", exclusion.ID,
				c.hints.DidYouMean(exclusion.ID, slices.Values(c.high.names()))))
		case exclusion.SLS != "" && !slices.Contains(c.high.Loaded, exclusion.SLS):
			c.diags = c.diags.Append(problem.Warning(problem.UnknownRef, exclusion.Range, "Exclusion of an unknown SLS",
				"The SLS %q is not loaded, so that nothing is excluded.%s", exclusion.SLS,
				c.hints.DidYouMean(exclusion.SLS, slices.Values(c.high.Loaded))))
		}
		ids[exclusion.ID], files[exclusion.SLS] = true, true
	}
	var kept []*Call
	for _, call := range c.calls {
		if ids[call.ID] || files[call.SLS] {
			c.excluded = append(c.excluded, call)
		} else {
			kept = append(kept, call)
		}
	}
	c.calls = kept
}

// sort puts the calls in the order of their numbers.
func (c *compiler) sort(tie Tie) {
	var b order.Builder
	for _, call := range c.calls {
		b.Add(call.node(tie))
	}
	graph, err := b.Build()
	if err != nil {
		panic("compile: " + err.Error()) // there are no edges
	}
	numbers := make([]int, len(c.calls))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortFunc(numbers, graph.Compare)
	sorted := make([]*Call, len(c.calls))
	for i, n := range numbers {
		sorted[i] = c.calls[n]
	}
	c.calls = sorted
}

func (c *Call) node(tie Tie) order.Node {
	n := order.Node{Name: c.String(), Weight: c.Order, Place: c.Place()}
	if tie == TieByText {
		n.Ties = []string{c.Module + c.Name + c.Function}
	} else {
		n.Ties = []string{c.Module, c.Function, c.ID}
	}
	return n
}

// Place returns where the call is declared.
func (c *Call) Place() order.Place {
	return problem.PlaceAt(c.Range)
}

// resolve finds the calls that requisites name.
func (c *compiler) resolve() {
	c.index = newIndex(c.calls)
	for i, call := range c.calls {
		for _, kind := range kinds {
			if kind == Use {
				continue // done before
			}
			known := map[int]bool{}
			for n, requisite := range call.requisites[kind] {
				found, ok := c.find(requisite, i)
				if ok && len(found) == 0 && !c.isEmptyFile(requisite) {
					c.unknown(call, kind, requisite)
				}
				for _, target := range found {
					if !known[target] {
						known[target] = true
						call.targets[kind] = append(call.targets[kind], target)
						call.named[kind] = append(call.named[kind], n)
					}
				}
			}
		}
	}
}

// isEmptyFile reports whether a requisite names a loaded file that has no calls of its own.
func (c *compiler) isEmptyFile(r Requisite) bool {
	if r.Module != "sls" || !slices.Contains(c.high.Loaded, r.Identifier) {
		return false
	}
	return !slices.ContainsFunc(c.excluded, func(call *Call) bool { return call.SLS == r.Identifier })
}

// unknown reports a requisite that matches nothing (lines C-16 and C-40).
func (c *compiler) unknown(call *Call, kind string, r Requisite) {
	if slices.ContainsFunc(c.excluded, r.matcher()) {
		c.problem(problem.UnknownRef, r.Range, "Excluded requisite",
			"The %q requisite %s of %s in %s names an excluded call. Remove the requisite, or do not exclude it.",
			kind, r, call, call.Range.Filename)
		return
	}
	c.problem(problem.UnknownRef, r.Range, "Unknown requisite",
		"The %q requisite %s of %s in %s matches nothing: no loaded SLS has such a call.%s",
		kind, r, call, call.Range.Filename, c.instead(r))
}

// instead names the object that could have been meant: one with the same name in another module or
// in a file that is not loaded, or else with a similar name.
func (c *compiler) instead(r Requisite) string {
	if r.Module != "sls" && r.Module != "id" {
		if others := c.index.exact[[2]string{"", r.Identifier}]; len(others) > 0 {
			other := c.calls[others[0]]
			return fmt.Sprintf(" There is %s: write \"%s: %s\".", other, other.Module, r.Identifier)
		}
	}
	if r.Module != "sls" && c.high.declares != nil {
		if name := c.high.declares(r.Identifier); name != "" {
			return fmt.Sprintf(" The SLS %q declares it and is not loaded: include it.", name)
		}
	}
	return c.hints.DidYouMean(r.Identifier, c.index.names(r.Module))
}

// String shows the requisite as it is written.
func (r Requisite) String() string {
	if r.Module == "" {
		return strconv.Quote(r.Identifier)
	}
	return "\"" + r.Module + ": " + r.Identifier + "\""
}

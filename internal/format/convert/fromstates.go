// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// FromStates makes a workspace file of calls of states: those of cmd.run and cmd.wait are tasks.
func FromStates(low *compile.Low) Result {
	c := &fromStates{low: low, kept: make([]bool, len(low.Calls)), passed: map[int][]int{}}
	c.writer = newWriter()
	c.position = make([]int, len(low.Calls))
	for at, i := range low.Sequence() {
		c.position[i] = at
	}
	c.choose()
	c.nameAll()
	var first Result
	for _, weigh := range []func(call, position int) float64{
		func(int, int) float64 { return 0 },
		func(call, _ int) float64 { return low.Calls[call].Order },
		func(_, position int) float64 { return float64(position) },
	} {
		c.writer = newWriter()
		c.Lost = slices.Clone(c.lostBefore)
		c.tasks(weigh)
		if first = c.result(); c.sameSequence(first.Files[0].Text) {
			return first
		}
	}
	first.loseOrder(order.Place{}, "The order of calls that no requisite orders")
	return first
}

type fromStates struct {
	*writer
	low   *compile.Low
	kept  []bool
	names []string

	position []int // of each call in the sequence

	passed map[int][]int // by call that was dropped: the calls that it needed

	lostBefore []Loss
}

// The kinds of requisites, as far as they matter here.
var (
	hardKinds        = []string{"require", "watch"}
	conditionalKinds = []string{"prereq", "onfail", "onfail_any", "onfail_all", "onchanges", "onchanges_any"}
)

func isCommand(call *compile.Call) bool {
	return call.Module == "cmd" && (call.Function == "run" || call.Function == "wait")
}

// waits reports whether a call does nothing but react to others.
func waits(call *compile.Call) bool { return call.Function == "wait" }

// choose selects the calls that can be tasks: commands, as long as some target of their reaction is
// left.
func (c *fromStates) choose() {
	for i, call := range c.low.Calls {
		if c.kept[i] = isCommand(call); !c.kept[i] {
			c.lose(problem.PlaceAt(call.Range), "%s: only commands can be tasks", call)
		}
	}
	for changed := true; changed; {
		changed = false
		for i, call := range c.low.Calls {
			if !c.kept[i] {
				continue
			}
			if kind := c.pointless(i); kind != "" {
				c.kept[i], changed = false, true
				c.lose(problem.PlaceAt(call.Range), "%s, of which nothing is left in %q", call, kind)
			}
		}
	}
	for i := range c.low.Calls {
		c.throughLost(i)
	}
}

// pointless returns a kind of requisites of a call that says whether it is made at all, and of
// which nothing is left; "" if there is none.
func (c *fromStates) pointless(i int) string {
	if waits(c.low.Calls[i]) && len(c.reactsTo(i)) == 0 {
		return "watch"
	}
	for _, kind := range conditionalKinds {
		targets := c.low.Requisites(i, kind)
		if len(targets) > 0 && len(c.active(targets)) == 0 && !c.listens(i) {
			return kind
		}
	}
	return ""
}

// active are the calls among some that are tasks, and not at the end of everything: before that
// these do nothing.
func (c *fromStates) active(calls []int) []int {
	return slices.DeleteFunc(slices.Clone(calls), func(n int) bool { return !c.isActive(n) })
}

func (c *fromStates) isActive(n int) bool { return c.kept[n] && !c.listens(n) }

// listensTo are the tasks whose changes make a call react at the end of everything, if it has a
// reaction. Of others that react there, it sees only those before it.
func (c *fromStates) listensTo(i int) []int {
	if !waits(c.low.Calls[i]) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.low.Requisites(i, "listen")), func(n int) bool {
		later := waits(c.low.Calls[n]) && len(c.low.Requisites(n, "listen")) > 0 && c.position[n] >= c.position[i]
		return !c.kept[n] || later || n == i
	})
}

// listens reports whether a call becomes a task that is done at the end of everything.
func (c *fromStates) listens(i int) bool { return len(c.listensTo(i)) > 0 }

// reactsTo are the calls whose changes make a call react that does nothing else.
func (c *fromStates) reactsTo(i int) []int {
	all := c.listensTo(i)
	for _, kind := range []string{"watch", "watch_any"} {
		all = append(all, c.active(c.low.Requisites(i, kind))...)
	}
	return all
}

// throughLost reports calls before a call by way of one that was dropped, as far as that does not
// simply need them.
func (c *fromStates) throughLost(i int) {
	if !c.kept[i] {
		return
	}
	for _, kind := range compile.Kinds() {
		if kind == "listen" || kind == "use" {
			continue
		}
		for _, target := range c.low.Requisites(i, kind) {
			if c.isActive(target) {
				continue
			}
			call := c.low.Calls[i]
			if !slices.Contains(hardKinds, kind) {
				c.loseOrder(problem.PlaceAt(call.Range), "That %s has %s in %q", call, c.low.Calls[target], kind)
				continue
			}
			c.need(target, map[int]bool{}, func(lost int, kind string) {
				c.loseOrder(problem.PlaceAt(call.Range), "That %s comes after the targets of %s in %q", call, c.low.Calls[lost], kind)
			})
		}
	}
}

// need returns the tasks that a call needs, by way of others that are none, or do nothing before
// the end. It reports requisites of other kinds.
func (c *fromStates) need(i int, seen map[int]bool, other func(lost int, kind string)) []int {
	if c.isActive(i) {
		return []int{i}
	}
	if seen[i] {
		return nil
	}
	seen[i] = true
	var all []int
	for _, kind := range compile.Kinds() {
		targets := c.low.Requisites(i, kind)
		switch {
		case len(targets) == 0 || kind == "listen" || kind == "use":
		case !slices.Contains(hardKinds, kind):
			other(i, kind)
		default:
			for _, target := range targets {
				all = append(all, c.need(target, seen, other)...)
			}
		}
	}
	return all
}

func (c *fromStates) nameAll() {
	c.names = make([]string, len(c.low.Calls))
	taken := names{}
	for _, i := range c.low.Sequence() {
		if c.kept[i] {
			call := c.low.Calls[i]
			c.names[i] = c.name(taken, "call", call.ID, problem.PlaceAt(call.Range))
		}
	}
	c.lostBefore = c.Lost
}

// tasks writes the tasks in the order in which the calls are made.
func (c *fromStates) tasks(weigh func(call, position int) float64) {
	position := 0
	for _, i := range c.low.Sequence() {
		if c.kept[i] {
			position++
			c.task(i, weigh(i, position))
		}
	}
}

// sameSequence reports whether a workspace file has the sequence of the calls, those at the end
// that react there.
func (c *fromStates) sameSequence(text []byte) bool {
	r := Result{Files: []File{{Text: text}}}
	g, diags := r.graph(false)
	if diags.HasErrors() {
		return false
	}
	var want, last, got []string
	for _, i := range c.low.Sequence() {
		switch {
		case !c.kept[i]:
		case c.listens(i):
			last = append(last, c.names[i])
		default:
			want = append(want, c.names[i])
		}
	}
	for _, n := range g.Sequence(g.Rule(), nil) {
		got = append(got, g.Node(n).Name)
	}
	return slices.Equal(append(want, last...), got)
}

func (c *fromStates) task(i int, weight float64) {
	call := c.low.Calls[i]
	at := problem.PlaceAt(call.Range)
	b := c.block(cairnfile.TaskType, c.names[i], at)
	shell := shellOf(call)
	if script, alone := c.script(call, shell, at); alone && shell != shellOfTasks && !strings.Contains(shell+call.Name, "\x00") {
		b.list("command", []string{shell, "-c", call.Name})
	} else {
		b.command(script)
	}
	if timeout, ok := secondsOf(call.Args.Get("timeout")); ok {
		b.text("timeout", timeout.String())
	}
	if call.Retry.Attempts > 1 {
		b.number("retries", float64(min(call.Retry.Attempts-1, maxRetries)))
		if call.Retry.Interval > 0 {
			b.text("interval", call.Retry.Interval.String())
		}
	}
	variables, _ := environmentOf(call.Args.Get("env"))
	b.texts("environment", variables)
	if weight != 0 && math.Abs(weight) < cairnfile.Last {
		b.number("order", weight)
	}
	c.requisites(b, i)
	c.loseOfCall(call, at)
}

// maxRetries is the largest number that a workspace file allows.
const maxRetries = 1e9

func secondsOf(value any) (time.Duration, bool) {
	var number float64
	switch value := value.(type) {
	case int64:
		number = float64(value)
	case float64:
		number = value
	}
	duration := time.Duration(number * float64(time.Second))
	return duration, number <= maxSeconds && duration > 0
}

// environmentOf reads a mapping, or a list of them. Ok is false if that is not all.
func environmentOf(value any) (variables map[string]string, ok bool) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	variables, ok = map[string]string{}, true
	for _, element := range list {
		m, isMap := element.(*compile.Map)
		if !isMap {
			ok = false
			continue
		}
		for _, entry := range m.Entries {
			text, isText := compile.Text(entry.Value)
			if !isText && entry.Value != nil {
				ok = false
				continue
			}
			variables[entry.Key] = text
		}
	}
	return variables, ok
}

// requisites writes the requisites of a call.
func (c *fromStates) requisites(b block, i int) {
	call := c.low.Calls[i]
	lists := map[string][]int{}
	add := func(key string, calls ...int) {
		for _, n := range calls {
			if n != i && !slices.Contains(lists[key], n) {
				lists[key] = append(lists[key], n)
			}
		}
	}
	// A call that becomes no task passes its requisites on to those that require it, and the
	// requisites of the target of a trial run (prereq) are done before the trial. A listener is run at
	// the end in any case, so that its other conditions have no effect.
	quiet := func(int, string) {} // reported before
	for _, kind := range compile.Kinds() {
		targets := c.low.Requisites(i, kind)
		active := c.active(targets)
		if c.listens(i) && slices.Contains(conditionalKinds, kind) {
			continue // it reacts at the end all the same
		}
		switch kind {
		case "require", "watch":
			for _, target := range targets {
				if !c.isActive(target) {
					add("require", c.need(target, map[int]bool{}, quiet)...)
				}
			}
			add(kind, active...)
		case "prereq":
			add(kind, active...)
			for _, target := range active {
				add("require", c.beforeTrial(i, target)...)
			}
		case "onfail_any":
			add("onfail", active...)
		case "use":
		case "listen":
			add(kind, c.listensTo(i)...)
		default:
			add(kind, active...)
		}
	}
	if waits(call) {
		c.reaction(lists, call)
	}
	for _, key := range []string{
		"require", "require_any", "watch", "watch_any", "prereq", "onfail", "onfail_all", "onchanges", "onchanges_any", "listen",
	} {
		var named []string
		for _, n := range lists[key] {
			named = append(named, c.names[n])
		}
		b.list(key, named)
	}
}

// beforeTrial returns the calls that are done before a trial run of target, as far as they do not
// wait for that themselves.
func (c *fromStates) beforeTrial(i, target int) []int {
	var all []int
	for _, kind := range hardKinds {
		for _, before := range c.low.Requisites(target, kind) {
			if before != i && c.isActive(before) && !slices.Contains(c.low.Requisites(before, "prereq"), target) {
				all = append(all, before)
			}
		}
	}
	return all
}

// reaction turns the watched targets of a call that does nothing else into the targets of its
// reaction.
func (c *fromStates) reaction(lists map[string][]int, call *compile.Call) {
	at := problem.PlaceAt(call.Range)
	if len(lists["listen"]) > 0 {
		if len(lists["watch"])+len(lists["watch_any"]) > 0 {
			c.lose(at, "That %s reacts where it is, too: it does at the end", call)
			lists["require"] = append(lists["require"], lists["watch"]...)
			lists["require_any"] = append(lists["require_any"], lists["watch_any"]...)
			delete(lists, "watch")
			delete(lists, "watch_any")
		}
		return
	}
	if len(lists["onchanges"])+len(lists["onchanges_any"]) > 0 {
		c.lose(at, "That %s reacts only if something in \"onchanges\" has changed, too", call)
	}
	lists["require"] = append(lists["require"], lists["watch"]...)
	lists["onchanges"] = append(lists["onchanges"], lists["watch"]...)
	lists["require_any"] = append(lists["require_any"], lists["watch_any"]...)
	lists["onchanges_any"] = append(lists["onchanges_any"], lists["watch_any"]...)
	delete(lists, "watch")
	delete(lists, "watch_any")
}

// shellOfTasks is the shell for the line of a task.
const shellOfTasks = "/bin/sh"

// shellOf is the shell for the command of a call and its conditions.
func shellOf(call *compile.Call) string {
	shell, _ := compile.Text(call.Args.Get("shell"))
	return cmp.Or(shell, shellOfTasks)
}

// script returns a line for the shell that has the effect of a call, and whether that is the
// command alone. The shell of the call may be none that knows the rest.
func (c *fromStates) script(call *compile.Call, shell string, at order.Place) (script string, alone bool) {
	var b strings.Builder
	inShell := func(command string) string { return shellWord(shell) + " -c " + shellWord(command) }
	conditions := false
	if files := texts(call.Args.Get("creates")); len(files) > 0 {
		conditions = true
		for _, file := range files {
			fmt.Fprintf(&b, "{ test -e %[1]s || test -L %[1]s; } && ", shellWord(file))
		}
		b.WriteString("exit 0\n")
	}
	if cwd, _ := compile.Text(call.Args.Get("cwd")); cwd != "" {
		fmt.Fprintf(&b, "cd -- %s || exit 1\n", shellWord(cwd))
	}
	if hide, _ := call.Args.Get("hide_output").(bool); hide {
		b.WriteString("exec >/dev/null 2>&1\n")
	}
	for _, command := range texts(call.Args.Get("onlyif")) {
		conditions = true
		fmt.Fprintf(&b, "%s >/dev/null 2>&1 || exit 0\n", inShell(command))
	}
	if unless := texts(call.Args.Get("unless")); len(unless) > 0 {
		conditions = true
		for _, command := range unless {
			fmt.Fprintf(&b, "%s >/dev/null 2>&1 && ", inShell(command))
		}
		b.WriteString("exit 0\n")
	}
	if conditions {
		c.lose(at, "That %s has not changed anything if it is not needed: where it is a command, it has", call)
	}
	var checks []string
	for _, command := range texts(call.Args.Get("check_cmd")) {
		checks = append(checks, inShell(command))
	}
	alone = b.Len() == 0 && len(checks) == 0
	switch {
	case shell != shellOfTasks:
		b.WriteString(inShell(call.Name))
	case len(checks) > 0:
		fmt.Fprintf(&b, "(\n%s\n)", call.Name) // which may end itself
	default:
		b.WriteString(call.Name)
	}
	if len(checks) > 0 {
		b.WriteString("\n" + strings.Join(checks, " && "))
	}
	return b.String(), alone
}

func texts(value any) []string {
	all, _ := textsOf(value)
	return all
}

// textsOf reads a text, or a list of them. Ok is false if that is not all.
func textsOf(value any) (all []string, ok bool) {
	if text, ok := compile.Text(value); ok {
		return []string{text}, true
	}
	elements, ok := value.([]any)
	for _, element := range elements {
		text, isText := compile.Text(element)
		if !isText {
			ok = false
			continue
		}
		all = append(all, text)
	}
	return all, ok
}

// translated are the arguments of calls that have a place in a task, or make no difference there.
var translated = []string{
	"name", "cwd", "env", "timeout", "shell", "hide_output", "creates", "onlyif", "unless", "check_cmd", "retry", "parallel", "failhard",
}

// wellFormed reports whether an argument has a value that can be translated. Others are mistakes,
// which a run would report.
func wellFormed(argument string, value any) bool {
	ok := true
	switch argument {
	case "cwd", "shell":
		_, ok = compile.Text(value)
	case "creates", "onlyif", "unless", "check_cmd":
		_, ok = textsOf(value)
	case "env":
		_, ok = environmentOf(value)
	case "hide_output":
		_, ok = value.(bool)
	case "timeout":
		_, ok = secondsOf(value)
	}
	return ok
}

// loseOfCall reports the other arguments of a call in a line.
func (c *fromStates) loseOfCall(call *compile.Call, at order.Place) {
	var rest []string
	for _, entry := range call.Args.Entries {
		kind := strings.TrimSuffix(entry.Key, "_in")
		known := slices.Contains(translated, entry.Key) || slices.Contains(compile.Kinds(), kind)
		if !known || !wellFormed(entry.Key, entry.Value) {
			rest = append(rest, entry.Key)
		}
	}
	if call.Failhard != nil && *call.Failhard {
		rest = append(rest, "failhard")
	}
	if call.Retry.UntilFailure || call.Retry.Splay > 0 {
		rest = append(rest, "until or splay of retry")
	}
	if len(rest) > 0 {
		c.lose(at, "Of %s: %s", call, strings.Join(rest, ", "))
	}
}

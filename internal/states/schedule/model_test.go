// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

// The ends of targets in the truth table, with one that it has not: not made, and no failure.
var tableEnds = []string{"skipped", "failed", "failed after changes", "ok", "changed", "not needed"}

// tableTarget declares a target that ends in that way.
func tableTarget(id, end string) string {
	switch end {
	case "skipped":
		return fmt.Sprintf("%s: {m.f: [{require: [%[1]su]}]}\n%[1]su: {m.fails: []}\n", id)
	case "failed":
		return id + ": {m.fails: []}\n"
	case "failed after changes":
		return id + ": {m.changes_and_fails: []}\n"
	case "changed":
		return id + ": {m.changes: []}\n"
	case "not needed":
		return fmt.Sprintf("%s: {m.changes: [{onchanges: [%[1]su]}]}\n%[1]su: {m.f: []}\n", id)
	}
	return id + ": {m.f: []}\n"
}

// byTable is the truth table's entry for a call: how it ends by a kind of requisite with targets
// that end so, and whether a reaction follows. A call that runs is ok without one. An entry "no
// run" or "failure" in the table is skipped here, except for onfail_all, of which no failure comes.
func byTable(kind string, ends []string) (status Status, reacts bool) {
	count := func(is ...string) int {
		n := 0
		for _, end := range ends {
			if slices.Contains(is, end) {
				n++
			}
		}
		return n
	}
	good, changed := count("ok", "changed", "not needed"), count("changed")
	failed := len(ends) - good
	runsIf := func(runs bool, otherwise Status) Status {
		if runs {
			return OK
		}
		return otherwise
	}
	otherwise := NotNeeded // of kinds that react to changes
	if failed > 0 {
		otherwise = Skipped
	}
	switch kind {
	case compile.Require:
		return runsIf(good == len(ends), Skipped), false
	case compile.RequireAny:
		return runsIf(good > 0, Skipped), false
	case compile.Watch:
		return runsIf(good == len(ends), Skipped), changed > 0 && good == len(ends)
	case compile.WatchAny:
		return runsIf(good > 0, Skipped), changed > 0
	case compile.Listen:
		return OK, changed+count("failed after changes") > 0
	case compile.OnChanges:
		return runsIf(failed == 0 && changed > 0, otherwise), false
	case compile.OnChangesAny:
		return runsIf(changed > 0, otherwise), false
	case compile.OnFail, compile.OnFailAny:
		return runsIf(failed > 0, NotNeeded), false
	case compile.OnFailAll:
		return runsIf(failed == len(ends), NotNeeded), false
	}
	panic("no row of " + kind)
}

var tableKinds = []string{
	compile.Require, compile.RequireAny, compile.Watch, compile.WatchAny, compile.Listen, compile.OnChanges,
	compile.OnChangesAny, compile.OnFail, compile.OnFailAny, compile.OnFailAll,
}

// TestOrderCTruthTableOfTwo has each kind with two targets, in each pair of ends, and each pair of
// kinds with a target each.
func TestOrderCTruthTableOfTwo(t *testing.T) {
	check := func(src, want string, reacts bool) {
		t.Helper()
		log, ended := runIt(t, mustCompile(t, src), Options{})
		if got := ended[strings.LastIndex(ended, " x=")+1:]; got != "x="+want {
			t.Errorf("%s: got %s, want x=%s", src, got, want)
		}
		reactions := 0
		if reacts {
			reactions = 1
		}
		if got := strings.Count(log, "x!"); got != reactions {
			t.Errorf("%s: %d reactions, want %d", src, got, reactions)
		}
	}
	words := func(status Status, reacts bool) string {
		if reacts {
			status = Changed
		}
		return strings.ReplaceAll(status.String(), " ", "-")
	}
	for _, kind := range tableKinds {
		t.Run("C-"+strings.TrimSuffix(kind, "_any")+suffixOf(kind)+"/two targets", func(t *testing.T) {
			for _, a := range tableEnds {
				for _, b := range tableEnds {
					status, reacts := byTable(kind, []string{a, b})
					check("x: {m.f: [{"+kind+": [s, t]}]}\n"+tableTarget("s", a)+tableTarget("t", b), words(status, reacts), reacts)
				}
			}
		})
	}
	// A requisite that is not met decides before one that makes the call needless (line C-34).
	for _, first := range tableKinds {
		for _, second := range tableKinds {
			if first == second {
				continue
			}
			for _, a := range tableEnds {
				for _, b := range tableEnds {
					one, oneReacts := byTable(first, []string{a})
					other, otherReacts := byTable(second, []string{b})
					status := OK
					switch {
					case one == Skipped || other == Skipped:
						status = Skipped
					case one == NotNeeded || other == NotNeeded:
						status = NotNeeded
					}
					late := first == compile.Listen && oneReacts || second == compile.Listen && otherReacts
					now := (first != compile.Listen && oneReacts || second != compile.Listen && otherReacts) && status == OK
					late = late && status != Skipped
					src := "x: {m.f: [{" + second + ": [t]}, {" + first + ": [s]}]}\n" + tableTarget("s", a) + tableTarget("t", b)
					if late && now {
						log, _ := runIt(t, mustCompile(t, src), Options{})
						if strings.Count(log, "x!") != 2 || !strings.HasSuffix(log, "x!") {
							t.Errorf("%s: calls %s, want a reaction at once and one at the end", src, log)
						}
						continue
					}
					check(src, words(status, late || now), late || now)
				}
			}
		}
	}
}

func suffixOf(kind string) string {
	if kind == compile.OnFailAny {
		return "" // which is the same as onfail
	}
	if strings.HasSuffix(kind, "_any") {
		return "_any"
	}
	return ""
}

// modelCall is a call of a random file.
type modelCall struct {
	id, function string
	order        int // 0 for none
	failhard     string
	requisites   map[string][]string
	given        []string // requisites that are written at the target, as "kind_in: call"
}

// model makes calls as lines C-30 to C-34 say: in the order of their numbers, each after its
// requisites, kind by kind.
type modelRun struct {
	calls  map[string]*modelCall
	ends   map[string]Status
	log    []string
	late   map[string]bool // calls that failed after their reaction changed something
	halted bool
}

// orders reports whether requisites of a kind are done before the call that has them.
func orders(kind string) bool { return kind != compile.Listen && kind != compile.Use }

func (m *modelRun) visit(id string) {
	if _, done := m.ends[id]; done || m.halted {
		return
	}
	call := m.calls[id]
	for _, kind := range kinds {
		if !orders(kind) {
			continue
		}
		for _, target := range call.requisites[kind] {
			if m.visit(target); m.halted {
				return
			}
		}
	}
	m.ends[id] = m.make(call)
	if failhard := call.failhard == "true"; failhard && !m.ends[id].Success() {
		m.halted = true
	}
}

func (m *modelRun) make(call *modelCall) Status {
	needed, reacts := true, false
	for _, kind := range kinds {
		if !orders(kind) || len(call.requisites[kind]) == 0 {
			continue
		}
		var ends []string
		for _, target := range call.requisites[kind] {
			ends = append(ends, m.end(target))
		}
		status, reaction := byTable(kind, ends)
		if status == Skipped {
			return Skipped
		}
		needed, reacts = needed && status != NotNeeded, reacts || reaction
	}
	if !needed {
		return NotNeeded
	}
	m.log = append(m.log, call.id)
	switch {
	case call.function == "fails" && reacts: // as its reaction does, which changes something before
		m.log = append(m.log, call.id+"!")
		m.late[call.id] = true
		return Failed
	case strings.Contains(call.function, "fails"):
		return Failed
	case reacts:
		m.log = append(m.log, call.id+"!")
		return Changed
	case call.function == "changes":
		return Changed
	}
	return OK
}

// end is how a call has ended, as the table has it.
func (m *modelRun) end(id string) string {
	if m.ends[id] == Failed && (m.calls[id].function == "changes_and_fails" || m.late[id]) {
		return "failed after changes"
	}
	return m.ends[id].String()
}

// listeners make reactions at the end, to changes made until then.
func (m *modelRun) listeners(low *compile.Low) {
	changes := map[string]bool{}
	for id := range m.ends {
		changes[id] = m.ends[id] == Changed || m.end(id) == "failed after changes"
	}
	for _, n := range low.Sequence() {
		call := m.calls[low.Calls[n].ID]
		changed := slices.ContainsFunc(call.requisites[compile.Listen], func(id string) bool { return changes[id] })
		if !changed || !m.ends[call.id].Success() {
			continue
		}
		m.log = append(m.log, call.id+"!")
		m.ends[call.id] = Changed
		if strings.Contains(call.function, "fails") {
			m.ends[call.id] = Failed
			if call.failhard == "true" {
				return
			}
		}
	}
}

// Random files: the calls, their order and their ends are those of a reading of the lines without a
// graph.
func TestOrderC30C31C32C33C34C37RandomFiles(t *testing.T) {
	compiled := 0
	const seeds = 1500
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 30))
		calls := randomCalls(random)
		low, src := compileCalls(t, calls)
		if low == nil {
			continue
		}
		compiled++
		m := &modelRun{calls: map[string]*modelCall{}, ends: map[string]Status{}, late: map[string]bool{}}
		for _, call := range calls {
			m.calls[call.id] = call
		}
		for _, call := range low.Calls { // they are in the order of numbers, of which other tests are
			m.visit(call.ID)
		}
		if !m.halted {
			m.listeners(low)
		}
		var ends []string
		for _, call := range calls {
			ends = append(ends, strings.ReplaceAll(call.id+"="+m.ends[call.id].String(), " ", "-"))
		}
		slices.Sort(ends)
		log, ended := runIt(t, low, Options{})
		if want := strings.Join(m.log, " "); log != want {
			t.Errorf("seed %d: calls %s\nwant %s\n%s", seed, log, want, src)
		}
		if want := strings.Join(ends, " "); ended != want {
			t.Errorf("seed %d: ended %s\nwant %s\n%s", seed, ended, want, src)
		}
		if t.Failed() {
			return
		}
	}
	if compiled < seeds/3 {
		t.Errorf("only %d of %d have no loop", compiled, seeds)
	}
}

func randomCalls(random *rand.Rand) []*modelCall {
	var calls []*modelCall
	for i := range 3 + random.IntN(7) {
		calls = append(calls, &modelCall{
			id:         fmt.Sprintf("c%d", i),
			function:   []string{"f", "f", "changes", "changes", "fails", "changes_and_fails"}[random.IntN(6)],
			requisites: map[string][]string{},
		})
	}
	ranks := random.Perm(len(calls)) // requisites lead from higher to lower ones, mostly
	for i, call := range calls {
		if random.IntN(3) == 0 {
			call.order = 1 + random.IntN(20000)
		}
		if random.IntN(15) == 0 {
			call.failhard = "true"
		}
		for range random.IntN(4) {
			to, kind := random.IntN(len(calls)), tableKinds[random.IntN(len(tableKinds))]
			if to == i || ranks[to] > ranks[i] && random.IntN(20) > 0 || slices.Contains(call.requisites[kind], calls[to].id) {
				continue
			}
			if random.IntN(4) == 0 {
				calls[to].given = append(calls[to].given, kind+"_in: "+call.id)
			} else {
				call.requisites[kind] = append(call.requisites[kind], calls[to].id)
			}
		}
	}
	return calls
}

// compileCalls writes calls as a file, and adds to them the requisites that others give them. It
// returns nil if there is a loop.
func compileCalls(t *testing.T, calls []*modelCall) (*compile.Low, string) {
	t.Helper()
	var b strings.Builder
	for _, call := range calls {
		fmt.Fprintf(&b, "%s:\n  m.%s:\n", call.id, call.function)
		if call.order > 0 {
			fmt.Fprintf(&b, "    - order: %d\n", call.order)
		}
		if call.failhard != "" {
			fmt.Fprintf(&b, "    - failhard: %s\n", call.failhard)
		}
		for _, kind := range slices.Backward(kinds) { // not in the order in which they are checked
			if len(call.requisites[kind]) > 0 {
				fmt.Fprintf(&b, "    - %s: [%s]\n", kind, strings.Join(call.requisites[kind], ", "))
			}
		}
		byKind := map[string][]string{}
		for _, given := range call.given {
			kind, to, _ := strings.Cut(given, ": ")
			byKind[kind] = append(byKind[kind], to)
		}
		for _, kind := range kinds {
			if list := byKind[kind+"_in"]; len(list) > 0 {
				fmt.Fprintf(&b, "    - %s_in: [%s]\n", kind, strings.Join(list, ", "))
			}
		}
	}
	for _, call := range calls {
		for _, kind := range kinds {
			for _, given := range call.given {
				to, ok := strings.CutPrefix(given, kind+"_in: ")
				for _, other := range calls {
					if ok && other.id == to && !slices.Contains(other.requisites[kind], call.id) {
						other.requisites[kind] = append(other.requisites[kind], call.id)
					}
				}
			}
		}
	}
	high := mustLoad(t, b.String())
	low, diags := compile.Compile(high, compile.CompileOptions{})
	if diags.HasErrors() {
		return nil, b.String()
	}
	return low, b.String()
}

// Line C-43 for random files, in which calls are made before others that are made before others,
// and have other requisites, too.
func TestOrderC43RandomFiles(t *testing.T) {
	tried := 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 43))
		calls := randomCalls(random)
		for i, call := range calls {
			if to := random.IntN(len(calls)); i > 0 && to != i && random.IntN(2) == 0 {
				call.requisites[compile.Prereq] = []string{calls[to].id}
			}
			delete(call.requisites, compile.Listen)
			call.given = slices.DeleteFunc(call.given, func(given string) bool { return strings.HasPrefix(given, compile.Listen) })
			call.failhard = ""
		}
		low, src := compileCalls(t, calls)
		if low == nil {
			continue
		}
		log, ended := runIt(t, low, Options{})
		tried += strings.Count(log, "?")
		checkPrereq(t, calls, strings.Fields(log), strings.Fields(ended))
		if t.Failed() {
			t.Fatalf("seed %d\n%s\n%s\n%s", seed, log, ended, src)
		}
	}
	if tried < 1000 {
		t.Errorf("only %d calls were tried", tried)
	}
}

func checkPrereq(t *testing.T, calls []*modelCall, log, ended []string) {
	t.Helper()
	at := func(id string) int { return slices.Index(log, id) }
	for _, call := range calls {
		targets := call.requisites[compile.Prereq]
		for _, entry := range []string{call.id, call.id + "?"} {
			if strings.Count(" "+strings.Join(log, " ")+" ", " "+entry+" ") > 1 {
				t.Errorf("%s more than once", entry)
			}
		}
		failed := slices.Contains(ended, call.id+"=failed") || slices.Contains(ended, call.id+"=skipped")
		needed := len(targets) == 0
		for _, target := range targets {
			other := calls[slices.IndexFunc(calls, func(c *modelCall) bool { return c.id == target })]
			needed = needed || at(target+"?") >= 0 && (other.function == "changes" || at(target+"?!") >= 0)
			switch {
			case at(call.id) >= 0 && at(target+"?") < 0:
				t.Errorf("%s is made, and %s was not tried", call.id, target)
			case at(call.id) >= 0 && at(target) >= 0 && at(target) < at(call.id):
				t.Errorf("%s is made after %s", call.id, target)
			case failed && at(target) >= 0:
				t.Errorf("%s is made though %s did not succeed", target, call.id)
			case at(target+"?") >= 0 && at(target) < 0 && slices.Contains(ended, target+"=not-needed") &&
				!slices.ContainsFunc(kinds, func(kind string) bool {
					return reacts(kind) && len(other.requisites[kind]) > 0
				}):
				t.Errorf("%s is not made in its turn", target)
			}
		}
		if at(call.id) >= 0 && !needed {
			t.Errorf("%s is made, and nothing would change after it", call.id)
		}
		for _, kind := range []string{compile.Require, compile.Watch} {
			for _, target := range call.requisites[kind] {
				bad := slices.Contains(ended, target+"=failed") || slices.Contains(ended, target+"=skipped")
				if at(call.id) >= 0 && (bad || at(target) > at(call.id)) {
					t.Errorf("%s is made before or without %s", call.id, target)
				}
			}
		}
	}
}

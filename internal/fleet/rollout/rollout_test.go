// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/show"
	engineapi "github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// engine is a program that writes its arguments to log, one command a line, and knows of each
// directory the kind of its plan: "changes", "none" or "fails", and whether its apply fails.
const engine = `#!/bin/sh
echo "$(basename "$PWD"): $*${TF_WORKSPACE:+ in $TF_WORKSPACE}" >> "$LOG"
echo "$1"
CACHE="${TF_PLUGIN_CACHE_DIR:-$CACHE}"
[ -z "$CACHE" ] || [ "$1" != init ] || { mkdir "$CACHE" && sleep 0.1 && rmdir "$CACHE"; } || exit 8
case "$1" in
plan)
  for arg; do case "$arg" in -out=*) echo "plan of $PWD" > "${arg#-out=}" ;; esac; done
  case "$(cat plan)" in changes) exit 2 ;; none) exit 0 ;; *) exit 1 ;; esac ;;
apply)
  for file; do :; done
  [ "$(cat "$file")" = "plan of $PWD" ] || exit 7
  ! [ -e broken ] ;;
esac
`

// bench is a place where units are worked on by a fake engine.
type bench struct {
	t    *testing.T
	dir  string
	work *Work
	node map[string]int // "plan a"
	out  order.Builder

	mu       sync.Mutex
	reported []string // ends, as they come
	asked    []string
	parallel int
	refuse   map[string]bool
	shows    bool   // shows plans before questions
	waits    func() // is called at a question
	auto     string // a unit that is not asked for
	stop     func() // is called at a question
	stopAt   int    // which one; 0 for the first

	env      []string           // of units of which a test says so
	shared   binary.Shared      // with stacks
	output   io.Writer          // nil for one that takes everything
	readPlan func() driver.Plan // of units of kind Components
	applied  chan struct{}      // is closed when auto has ended; nil if nobody wants to know
	yes      int                // questions that are answered with it; 0 for any number
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), work: &Work{}, node: map[string]int{}, refuse: map[string]bool{}}
	t.Setenv("LOG", filepath.Join(b.dir, "log"))
	b.write("engine", engine)
	if err := os.Chmod(filepath.Join(b.dir, "engine"), 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// unit adds a root module with a kind of plan.
func (b *bench) unit(name, plan string) *Unit {
	b.t.Helper()
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	b.write(filepath.Join(name, "plan"), plan)
	u := b.add(Unit{Name: name, Kind: Root, Dir: dir, Path: name}, Plan, Apply)
	b.edge("plan "+name, "apply "+name)
	return u
}

// task adds a task that logs its name and then does a command.
func (b *bench) task(name, command string) *Unit {
	words := []string{"/bin/sh", "-c", fmt.Sprintf("echo '%s' >> \"$LOG\"; %s", name, command)}
	return b.add(Unit{Name: name, Kind: Command, Dir: b.dir, Task: &Task{Command: words}}, Run)
}

func (b *bench) add(u Unit, phases ...Phase) *Unit {
	b.work.Units = append(b.work.Units, u)
	at := len(b.work.Units) - 1
	for _, phase := range phases {
		name := string(phase) + " " + u.Name
		b.node[name] = b.out.Add(order.Node{Name: name, Ties: []string{u.Name}})
		b.work.Steps = append(b.work.Steps, Step{at, phase})
	}
	return &b.work.Units[at]
}

func (b *bench) edge(from, to string) {
	b.out.Edge(order.Edge{From: b.node[from], To: b.node[to]})
}

func (b *bench) ended(end End) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.applied != nil && b.work.Units[end.Unit].Name == b.auto {
		close(b.applied)
	}
	b.reported = append(b.reported, fmt.Sprintf("%s %s", b.work.Units[end.Unit].Name, end.State))
}

func (b *bench) approve(_ context.Context, unit int, show func() error) (Consent, error) {
	if b.shows {
		if err := show(); err != nil {
			return Consent{}, err
		}
	}
	name := b.work.Units[unit].Name
	b.asked = append(b.asked, name)
	if b.waits != nil {
		b.waits()
	}
	if b.stop != nil && len(b.asked) >= b.stopAt {
		b.stop()
	}
	return Consent{Given: !b.refuse[name] && (b.yes == 0 || len(b.asked) <= b.yes)}, nil
}

// run returns how each unit ended, and the commands that were run.
func (b *bench) run(mode Mode) (ends, log string) {
	b.t.Helper()
	var err error
	if b.work.Graph, err = b.out.Build(); err != nil {
		b.t.Fatal(err)
	}
	plans := filepath.Join(b.dir, "plans")
	if err := os.MkdirAll(plans, 0o700); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	if b.stop != nil {
		b.stop = cancel
	}
	if b.output == nil {
		b.output = io.Discard
	}
	shown := show.NewOutput(b.output, io.Discard, false)
	var lines []string
	drivers := Drivers{
		Plans: plans, Roots: &rootmodule.Engine{Path: filepath.Join(b.dir, "engine"), Shared: &b.shared, Processes: &process.Set{}},
		ShowRoot: func(unit *Unit, _ string) driver.RootView { return plainView{shown.Node(unit.Name)} },
	}
	output := func(unit string) Output { return shown.Node(unit) }
	for _, end := range b.work.Run(ctx, Options{
		Mode: mode, Processes: drivers.Roots.Processes, MaxRounds: 3, Parallel: b.parallel,
		Open: func(unit int) driver.Driver {
			if b.work.Units[unit].Kind == Root {
				return drivers.Open(b.work, unit)
			}
			asRoot := *b.work
			asRoot.Units = slices.Clone(b.work.Units)
			asRoot.Units[unit].Kind = Root
			return inRounds{drivers.Open(&asRoot, unit), b.readPlan}
		},
		Asks:   func(unit int) bool { return b.work.Units[unit].Name != b.auto },
		Output: output, Last: shown.Last, Approve: b.approve, Ended: b.ended,
	}) {
		line := fmt.Sprintf("%s %s", b.work.Units[end.Unit].Name, end.State)
		if end.Detail != "" {
			line += " (" + end.Detail + ")"
		}
		if !end.Done {
			line += " !"
		}
		lines = append(lines, line)
	}
	content, err := os.ReadFile(filepath.Join(b.dir, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return strings.Join(lines, "\n"), strings.TrimSpace(strings.ReplaceAll(string(content), plans, "PLANS"))
}

// conditions are those of a test. Without a function, there is nothing of its kind.
type conditions struct {
	decide    func(node int, result func(int) order.Result) order.Result
	precedes  func(node int) []int
	atFailure func(node int) bool
}

func (c conditions) Decide(func(int) bool) func(int, func(int) order.Result) order.Result {
	if c.decide == nil {
		return func(int, func(int) order.Result) order.Result { return order.Result{} }
	}
	return c.decide
}

func (c conditions) Reacts(int, func(int) bool) bool { return false }

func (c conditions) Precedes(node int) []int {
	if c.precedes == nil {
		return nil
	}
	return c.precedes(node)
}

func (c conditions) AtFailure(node int) bool { return c.atFailure != nil && c.atFailure(node) }

// plainView shows the text output of programs, and no data: the fake engine reports none.
type plainView struct{ *show.NodeOutput }

func (plainView) Event(engineapi.Event)                       {}
func (plainView) Plan(*stackplan.Plan, hcl.Diagnostics) error { return nil }
func (plainView) Applied(rootmodule.Applied, bool) error      { return nil }
func (plainView) Report(hcl.Diagnostics, bool) error          { return nil }

// inRounds is a driver whose plans are those of a test, if they have changes.
type inRounds struct {
	driver.Driver
	read func() driver.Plan
}

func (d inRounds) Plan(ctx context.Context, req driver.PlanRequest) (driver.Plan, error) {
	plan, err := d.Driver.Plan(ctx, req)
	if err == nil && plan.Changes {
		return d.read(), nil
	}
	return plan, err
}

func (b *bench) check(what, got string, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Rule R1: a unit is applied by the plan that was made of it, and not at all without changes.
func TestApplyByPlan(t *testing.T) {
	b := newBench(t)
	u := b.unit("a", "changes")
	u.Workspace, u.VarFiles = "blue", []string{"/x/values.tfvars"}
	b.unit("b", "none")
	b.edge("apply a", "plan b")
	ends, log := b.run(ApplyAll)
	b.check("ends", ends, "a applied", "b no changes")
	b.check("commands", log,
		"a: init -json -input=false",
		"a: workspace select -json -or-create=true blue",
		"a: plan -json -input=false -detailed-exitcode -out=PLANS/0.plan -var-file=/x/values.tfvars in blue",
		"a: show PLANS/0.plan in blue",
		"a: apply -json -input=false -var-file=/x/values.tfvars PLANS/0.plan in blue",
		"b: init -json -input=false",
		"b: plan -json -input=false -detailed-exitcode -out=PLANS/1.plan",
		"b: show PLANS/1.plan",
	)
	b.check("questions", strings.Join(b.asked, " "), "a")
	b.check("reported", strings.Join(b.reported, "\n"), "a applied", "b no changes")
}

func TestPlanOnly(t *testing.T) {
	b := newBench(t)
	b.unit("a", "changes")
	b.unit("b", "changes")
	b.unit("c", "none")
	b.edge("apply a", "apply b")
	b.edge("apply c", "plan b")
	b.unit("d", "changes")
	b.edge("apply a", "plan d")
	ends, _ := b.run(PlanOnly)
	b.check("ends", ends, "a planned", "b planned", "c no changes", "d waiting (for a to be applied)")
}

// Rule R2: after a failure nothing more is started, whatever it waits for, but tasks for which it
// is the reason.
func TestStopAtFailure(t *testing.T) {
	for name, test := range map[string]struct {
		plan   string
		broken bool
		a, z   string
	}{
		"plan":  {"fails", false, "a failed (plan: exit code 1) !", "z not started !"},
		"apply": {"changes", true, "a failed (apply: exit code 1) !", "z planned (not applied) !"}, // z is planned before a is applied
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unit("a", test.plan)
			if test.broken {
				b.write("a/broken", "")
			}
			b.unit("b", "changes")
			b.edge("apply a", "plan b")
			b.unit("z", "changes")
			b.task("page", "")
			b.task("other", "")
			b.work.Conditions = conditions{atFailure: func(n int) bool { return n == b.node["run page"] }}
			b.out.Edge(order.Edge{From: b.node["apply a"], To: b.node["run page"], Soft: true})
			b.out.Edge(order.Edge{From: b.node["apply a"], To: b.node["run other"], Soft: true})
			ends, log := b.run(ApplyAll)
			b.check("ends", ends, test.a, "b skipped (because a failed) !", test.z, "page ran", "other not started !")
			if strings.Contains(log, "z: apply") || !strings.Contains(log, "page") {
				t.Errorf("commands:\n%s", log)
			}
		})
	}
}

// Rule R3: a unit that is not approved has not failed.
func TestNotApproved(t *testing.T) {
	b := newBench(t)
	b.unit("a", "changes")
	b.unit("b", "changes")
	b.edge("apply a", "plan b")
	b.unit("c", "changes")
	b.edge("apply a", "apply c")
	b.unit("z", "changes")
	b.refuse["a"] = true
	failures := 0
	b.work.Conditions = conditions{decide: func(n int, result func(int) order.Result) order.Result {
		if n == b.node["plan z"] && result(b.node["apply a"]).State == order.Failed {
			failures++
		}
		return order.Result{}
	}}
	b.out.Edge(order.Edge{From: b.node["apply a"], To: b.node["plan z"], Soft: true})
	ends, _ := b.run(ApplyAll)
	b.check("ends", ends, "a planned (not approved) !", "b waiting (for a, which was not approved) !",
		"c planned (waiting for a, which was not approved) !", "z applied")
	if failures > 0 {
		t.Error("a condition sees a failure in what was not approved")
	}
}

// A plan itself holds its changes of outputs, and no command is run for that. The plans of this
// engine cannot be read, so that it is asked to show them, and outputs may have changed.
func TestOutputsOfUnreadablePlan(t *testing.T) {
	b := newBench(t)
	b.unit("a", "changes")
	b.unit("c", "changes").OnlyByOutputs = []int{0}
	b.edge("apply a", "plan c")
	ends, log := b.run(ApplyAll)
	b.check("ends", ends, "a applied", "c applied")
	_, log, _ = strings.Cut(log, "-out=PLANS/0.plan\n")
	b.check("commands", log, "a: show PLANS/0.plan", "a: apply -json -input=false PLANS/0.plan",
		"c: init -json -input=false", "c: plan -json -input=false -detailed-exitcode -out=PLANS/1.plan", "c: show PLANS/1.plan",
		"c: apply -json -input=false PLANS/1.plan")
}

// fullAt is a writer that has no room from a text on.
type fullAt struct {
	text string
	full bool
}

func (w *fullAt) Write(text []byte) (int, error) {
	if w.full = w.full || strings.Contains(string(text), w.text); w.full {
		return 0, errors.New("no space left")
	}
	return len(text), nil
}

// A plan that nobody can see is not applied, and an applied unit is reported as that even if its
// output is lost.
func TestLostOutput(t *testing.T) {
	for name, test := range map[string]struct {
		from    string
		applied bool
		ends    []string
	}{
		"plan": {"| plan", false, []string{"a failed (plan: its output cannot be written: no space left) !", "b skipped (because a failed) !"}},
		"apply": {
			"| apply",
			true,
			[]string{"a failed (apply: it is applied, but its output cannot be written: no space left) !", "b skipped (because a failed) !"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unit("a", "changes")
			b.unit("b", "changes")
			b.edge("apply a", "plan b")
			b.output = &fullAt{text: test.from}
			ends, log := b.run(ApplyAll)
			b.check("ends", ends, test.ends...)
			if strings.Contains(log, "a: apply") != test.applied || strings.Contains(log, "b: ") {
				t.Errorf("commands:\n%s", log)
			}
		})
	}
}

// A task between plans and applies runs if one of these is approved; each is asked for once, before
// it.
func TestPrecedes(t *testing.T) {
	for name, test := range map[string]struct {
		refuse string
		ends   []string
		ran    bool
	}{
		"one": {"a", []string{"a planned (not approved) !", "b applied", "c no changes", "backup ran"}, true},
		"none": {"a b", []string{
			"a planned (not approved) !",
			"b planned (not approved) !",
			"c no changes",
			"backup passed (nothing is approved that it precedes)",
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unit("a", "changes")
			b.unit("b", "changes")
			b.unit("c", "none")
			b.task("backup", "")
			for _, unit := range []string{"a", "b", "c"} {
				b.edge("plan "+unit, "run backup")
				b.edge("run backup", "apply "+unit)
			}
			for unit := range strings.FieldsSeq(test.refuse) {
				b.refuse[unit] = true
			}
			b.work.Conditions = conditions{precedes: func(n int) []int {
				if n != b.node["run backup"] {
					return nil
				}
				return []int{b.node["apply a"], b.node["apply b"], b.node["apply c"]}
			}}
			ends, log := b.run(ApplyAll)
			b.check("ends", ends, test.ends...)
			b.check("questions", strings.Join(b.asked, " "), "a b")
			if strings.Contains(log, "backup") != test.ran {
				t.Errorf("commands:\n%s", log)
			}
		})
	}
}

// A unit that needs no consent is applied while a question about another one waits.
func TestNotAsked(t *testing.T) {
	b := newBench(t)
	b.unit("a", "changes")
	b.unit("b", "changes")
	b.auto, b.parallel, b.applied = "b", 2, make(chan struct{})
	b.waits = func() {
		select {
		case <-b.applied:
		case <-time.After(30 * time.Second):
			t.Error("b is not applied while a waits")
		}
	}
	ends, _ := b.run(ApplyAll)
	b.check("ends", ends, "a applied", "b applied")
	b.check("questions", strings.Join(b.asked, " "), "a")
}

// With a cache of providers, which a relative path may name, these are installed for one unit at a
// time.
func TestCache(t *testing.T) {
	for name, prepare := range map[string]func(b *bench, cache string){
		"environment":          func(b *bench, _ string) { b.t.Setenv("TF_PLUGIN_CACHE_DIR", "cache") },
		"environment of units": func(b *bench, cache string) { b.env = []string{"TF_PLUGIN_CACHE_DIR=" + cache} },
		"configuration": func(b *bench, cache string) {
			config := filepath.Join(b.dir, "x.tfrc")
			if err := os.WriteFile(config, []byte("plugin_cache_dir = \"/cache\"\n"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			b.env = []string{"CACHE=" + cache, "TF_CLI_CONFIG_FILE=../x.tfrc"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			prepare(b, filepath.Join(b.dir, "cache"))
			for _, name := range []string{"a", "b", "c"} {
				b.unit(name, "none").Env = b.env
			}
			b.parallel = 3
			t.Chdir(b.dir)
			ends, _ := b.run(PlanOnly)
			b.check("ends", ends, "a no changes", "b no changes", "c no changes")
		})
	}
}

// Root modules and stacks of a run take turns, too.
func TestCacheWithStacks(t *testing.T) {
	b := newBench(t)
	cache := filepath.Join(b.dir, "cache")
	b.unit("a", "none").Env = []string{"TF_PLUGIN_CACHE_DIR=" + cache}
	unlock, err := b.shared.LockCache(t.Context(), b.work.Units[0].Env) // as a stack does
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		if err := os.Remove(cache); err != nil {
			t.Error(err)
		}
		unlock()
	})
	ends, _ := b.run(PlanOnly)
	b.check("ends", ends, "a no changes")
}

// A run that is stopped while a question waits applies nothing and starts nothing more.
func TestStopAtQuestion(t *testing.T) {
	b := newBench(t)
	b.unit("a", "changes")
	b.unit("b", "changes")
	b.edge("apply a", "plan b")
	b.stop = func() {}
	ends, log := b.run(ApplyAll)
	b.check("ends", ends, "a planned (not applied) !", "b not started !")
	if strings.Contains(log, "apply") {
		t.Errorf("commands:\n%s", log)
	}
}

// Rule R4: units in one directory take turns, also where several are worked on at the same time.
func TestOneDirectory(t *testing.T) {
	b := newBench(t)
	dir := b.unit("a", "changes").Dir
	b.unit("b", "changes")
	b.work.Units[1].Dir = dir
	b.unit("c", "changes")
	limits := b.work.AllLimits()
	want := []order.Limit{{Parallel: 1, Nodes: []int{0, 1, 2, 3}}}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Error(diff)
	}
}

// A plan is shown again with the question if something else was printed since it was made.
func TestShownAgain(t *testing.T) {
	b := newBench(t)
	b.shows = true
	b.unit("a", "changes")
	b.unit("b", "changes").Workspace = "blue"
	b.edge("plan a", "plan b")
	b.edge("plan b", "apply a")
	b.edge("apply a", "apply b")
	b.unit("c", "changes")
	b.edge("apply b", "plan c")
	ends, log := b.run(ApplyAll)
	b.check("ends", ends, "a applied", "b applied", "c applied")
	b.check("commands", log,
		"a: init -json -input=false", "a: plan -json -input=false -detailed-exitcode -out=PLANS/0.plan", "a: show PLANS/0.plan",
		"b: init -json -input=false", "b: workspace select -json -or-create=true blue",
		"b: plan -json -input=false -detailed-exitcode -out=PLANS/1.plan in blue", "b: show PLANS/1.plan in blue",
		"a: show PLANS/0.plan", "a: apply -json -input=false PLANS/0.plan",
		"b: show PLANS/1.plan in blue",
		"b: apply -json -input=false PLANS/1.plan in blue",
		"c: init -json -input=false", "c: plan -json -input=false -detailed-exitcode -out=PLANS/2.plan", "c: show PLANS/2.plan",
		"c: apply -json -input=false PLANS/2.plan")
}

// Rule R6: a stack whose plan leaves something is planned and applied again, each time with
// consent, and units after it wait.
func TestRounds(t *testing.T) {
	const apply = "a: apply -json -input=false PLANS/0.plan\n"
	const once = apply + "a: plan -json -input=false -detailed-exitcode -out=PLANS/0.plan\n"
	for name, test := range map[string]struct {
		left  int  // plans that leave something
		stuck bool // applies change nothing
		yes   int
		stop  int  // the question at which everything is stopped
		fails bool // the second plan
		a, b  string
		log   string // without the last apply
	}{
		"one":   {left: 0, a: "a applied", b: "b applied"},
		"three": {left: 2, a: "a applied", b: "b applied", log: once + once},
		"too many": {
			left: 3,
			a:    "a failed (apply: changes are still deferred after 3 rounds) !",
			b:    "b skipped (because a failed) !",
			log:  once + once,
		},
		"stuck": {
			left:  9,
			stuck: true,
			a:     "a failed (apply: changes are still deferred after 1 round) !",
			b:     "b skipped (because a failed) !",
			log:   once,
		},
		"refused": {
			left: 9,
			yes:  2,
			a:    "a in part (applied up to round 2, the next one was not approved) !",
			b:    "b waiting (for a, which was applied in part) !",
			log:  once + once,
		},
		"stopped": {left: 9, stop: 2, a: "a in part (applied up to round 1) !", b: "b not started !", log: once},
		"broken":  {left: 9, fails: true, a: "a failed (apply: plan of round 2: exit code 1) !", b: "b skipped (because a failed) !", log: once},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unit("a", "changes").Kind = Components
			b.unit("b", "changes")
			b.edge("apply a", "plan b")
			b.yes = test.yes
			if b.stopAt = test.stop; test.stop > 0 {
				b.stop = func() {}
			}
			plans := 0
			b.readPlan = func() driver.Plan {
				plans++
				state := strconv.Itoa(plans)
				if test.stuck {
					state = "same"
				}
				if test.fails {
					b.write("a/plan", "fails")
				}
				return driver.Plan{Changes: true, Complete: plans > test.left, State: state}
			}
			ends, log := b.run(ApplyAll)
			b.check("ends", ends, test.a, test.b)
			log, _, _ = strings.Cut(log, "\nb: ")
			_, log, _ = strings.Cut(log+"\n", "PLANS/0.plan\n") // the commands for preparing and for the first plan
			log = strings.ReplaceAll(log, "a: show PLANS/0.plan\n", "")
			b.check("commands", strings.TrimSuffix(log, apply), test.log)
		})
	}
}

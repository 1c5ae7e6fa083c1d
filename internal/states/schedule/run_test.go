// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

func TestOrderCRun(t *testing.T) {
	tests := map[string]struct {
		src   string
		opts  Options
		log   string // calls; "?" in test mode, "!" of the reaction
		ended string
	}{
		"C-09_requisites_when_they_are_needed": {
			src: "apache: {pkg.f: [{name: httpd}], service.f: [{name: httpd}, {watch: [{file: conf}, {pkg: apache}]}]}\n" +
				"conf: {file.f: [{name: /etc/httpd.conf}]}",
			log: "httpd /etc/httpd.conf httpd", ended: "apache=ok apache=ok conf=ok", //nolint:dupword // two calls of the same id
		},
		"C-30_in_the_order_of_low_data": {src: "b: {m.f: []}\na: {m.f: []}\nc: {m.f: [{order: 1}]}", log: "c b a", ended: "a=ok b=ok c=ok"},
		"C-31_kind_by_kind": {
			src: "x: {m.changes: [{prereq: [p]}, {watch: [w]}, {require: [r2, r1]}]}\np: {m.changes: []}\nw: {m.f: []}\n" +
				"r1: {m.f: []}\nr2: {m.f: []}",
			log: "r2 r1 w p? x p", ended: "p=changed r1=ok r2=ok w=ok x=changed",
		},
		"C-32_requisites_of_requisites_once": {
			src: "x: {m.f: [{require: [y]}]}\ny: {m.f: [{require: [z]}]}\nz: {m.f: []}", log: "z y x", ended: "x=ok y=ok z=ok",
		},
		"C-33_requisites_beat_numbers": {
			src: "x: {m.f: [{order: 1}, {require: [y]}]}\ny: {m.f: [{order: last}]}\nz: {m.f: []}", log: "y x z", ended: "x=ok y=ok z=ok",
		},
		"C-34_not_met": {
			src: "x: {m.f: [{require: [y]}]}\ny: {m.fails: []}\nz: {m.f: [{require: [x]}]}", log: "y", ended: "x=skipped y=failed z=skipped",
		},
		"C-35_in_forms": {
			src: "y: {m.fails: [{require_in: [x]}]}\nx: {m.f: [{order: 1}]}\nv: {m.changes: [{watch_in: [w]}]}\nw: {m.f: [{order: 2}]}\n" +
				"p: {m.changes: [{order: 3}, {prereq_in: [q]}]}\nq: {m.f: []}\n",
			log: "y v w w! p? q p", ended: "p=changed q=ok v=changed w=changed x=skipped y=failed",
		},
		"C-37_only_what_needs_it": {
			src: "a: {m.fails: []}\nb: {m.f: []}\nc: {m.f: [{require: [a]}]}\nd: {m.f: []}", log: "a b d", ended: "a=failed b=ok c=skipped d=ok",
		},
		"C-38_failhard_of_all": {
			src: "a: {m.f: []}\nb: {m.fails: []}\nc: {m.f: []}", opts: Options{Failhard: true}, log: "a b", ended: "a=ok b=failed c=not-started",
		},
		"C-38_failhard_of_one": {
			src: "a: {m.fails: []}\nb: {m.fails: [{failhard: True}]}\nc: {m.f: []}", log: "a b", ended: "a=failed b=failed c=not-started",
		},
		"C-38_failhard_of_all_but_one": {
			src: "a: {m.fails: [{failhard: False}]}\nb: {m.fails: []}\nc: {m.f: []}", opts: Options{Failhard: true}, log: "a b",
			ended: "a=failed b=failed c=not-started",
		},
		"C-38_no_reactions_after_it": {
			src: "a: {m.changes: []}\nb: {m.f: [{listen: [a]}]}\nc: {m.fails: [{failhard: true}]}", log: "a b c", ended: "a=changed b=ok c=failed",
		},
		"C-39_by_id":   {src: "x: {m.f: [{require: [{n: y}]}]}\ny: {n.f: [{name: z}]}", log: "z x", ended: "x=ok y=ok"},
		"C-39_by_name": {src: "x: {m.f: [{require: [{n: z}]}]}\ny: {n.f: [{name: z}]}", log: "z x", ended: "x=ok y=ok"},
		"C-39_of_any_module": {
			src: "x: {m.f: [{require: [vim]}]}\nvim: {pkg.f: [], file.f: []}\ny: {o.f: [{name: vim}]}\nz: {m.f: []}",
			log: "vim vim vim x z", ended: "vim=ok vim=ok x=ok y=ok z=ok", //nolint:dupword // three calls of the same name
		},
		"C-39_patterns": {
			src: "x: {m.f: [{require: [{n: 'a*/?[0-9]'}]}]}\nab/c1: {n.f: []}\na/b/d2: {n.f: []}\na/cc: {n.f: []}\na/d3: {m.f: []}",
			log: "ab/c1 a/b/d2 x a/cc a/d3", ended: "a/b/d2=ok a/cc=ok a/d3=ok ab/c1=ok x=ok",
		},
		"C-39_patterns_leave_out_the_call": {src: "x: {m.f: [{require: ['*']}]}\ny: {m.f: []}", log: "y x", ended: "x=ok y=ok"},
		"C-39_of_a_file": {
			src:   "include: [b]\nx: {m.f: [{order: 1}, {require: [{sls: b}]}]}\n-- b.sls --\ny: {m.f: []}\nz: {m.f: []}\n",
			log:   "y z x",
			ended: "x=ok y=ok z=ok",
		},
		"C-42_reaction_after_the_call": {src: "x: {m.f: [{watch: [y]}]}\ny: {m.changes: []}", log: "y x x!", ended: "x=changed y=changed"},
		"C-42_no_change":               {src: "x: {m.f: [{watch: [y]}]}\ny: {m.f: []}", log: "y x", ended: "x=ok y=ok"},
		"C-42_no_reaction":             {src: "x: {mute.f: [{watch: [y]}]}\ny: {m.changes: []}", log: "y x", ended: "x=ok y=changed"},
		"C-42_call_fails":              {src: "x: {m.fails: [{watch: [y]}]}\ny: {m.changes: []}", log: "y x x!", ended: "x=failed y=changed"},
		"C-42_call_fails_with_changes": {
			src:   "x: {m.changes_and_fails: [{watch: [y]}]}\ny: {m.changes: []}",
			log:   "y x",
			ended: "x=failed y=changed",
		},
		"C-42_reaction_succeeds":    {src: "x: {m.restarts: [{watch: [y]}]}\ny: {m.changes: []}", log: "y x x!", ended: "x=changed y=changed"},
		"C-43_would_change":         {src: "x: {m.f: [{prereq: [y]}]}\ny: {m.changes: []}", log: "y? x y", ended: "x=ok y=changed"},
		"C-43_would_change_nothing": {src: "x: {m.f: [{prereq: [y]}]}\ny: {m.f: []}", log: "y? y", ended: "x=not-needed y=ok"},
		"C-43_changes_what_the_trial_did_not_see": {
			src:   "x: {m.f: [{prereq: [y]}]}\ny: {m.surprises: []}\nz: {m.f: [{onchanges: [y]}]}",
			log:   "y? y z",
			ended: "x=not-needed y=changed z=ok",
		},
		"C-43_would_change_nothing_in_test_mode": {
			src:   "x: {m.f: [{prereq: [y]}]}\ny: {m.f: []}",
			opts:  Options{Test: true},
			log:   "y? y?", //nolint:dupword // called twice
			ended: "x=not-needed y=ok",
		},
		"C-43_declaring_call_fails": {src: "x: {m.fails: [{prereq: [y]}]}\ny: {m.changes: []}", log: "y? x", ended: "x=failed y=skipped"},
		"C-43_declaring_call_skipped": {
			src:   "x: {m.f: [{prereq: [y]}, {require: [z]}]}\ny: {m.changes: []}\nz: {m.fails: []}",
			log:   "z y?",
			ended: "x=skipped y=skipped z=failed",
		},
		"C-43_trial_fails":     {src: "x: {m.f: [{prereq: [y]}]}\ny: {m.fails: []}", log: "y?", ended: "x=skipped y=failed"},
		"C-43_fails_when_made": {src: "x: {m.f: [{prereq: [y]}]}\ny: {m.passes_trial: []}", log: "y? x y", ended: "x=ok y=failed"},
		"C-43_target_has_needs": {
			src:   "x: {m.f: [{prereq: [y]}]}\ny: {m.changes: [{require: [z]}]}\nz: {m.f: []}",
			log:   "z y? x y",
			ended: "x=ok y=changed z=ok",
		},
		"C-43_target_first":    {src: "y: {m.changes: []}\nx: {m.f: [{prereq: [y]}]}", log: "y? x y", ended: "x=ok y=changed"},
		"C-43_target_needs_it": {src: "x: {m.f: [{prereq: [y]}]}\ny: {m.changes: [{require: [x]}]}", log: "y? x y", ended: "x=ok y=changed"},
		"C-43_two_of_one_target": {
			src:   "x: {m.f: [{prereq: [y]}]}\nw: {m.f: [{prereq: [y]}]}\ny: {m.changes: []}",
			log:   "y? x w y",
			ended: "w=ok x=ok y=changed",
		},
		"C-43_one_of_two_targets": {
			src: "x: {m.f: [{prereq: [y, z]}]}\ny: {m.f: []}\nz: {m.changes: []}", log: "y? z? x y z", ended: "x=ok y=ok z=changed",
		},
		"C-43_chain": {
			src:   "x: {m.changes: [{prereq: [y]}]}\ny: {m.changes: [{prereq: [z]}]}\nz: {m.changes: []}",
			log:   "z? y? x y z",
			ended: "x=changed y=changed z=changed",
		},
		"C-43_chain_without_change": {
			src:   "x: {m.changes: [{prereq: [y]}]}\ny: {m.changes: [{prereq: [z]}]}\nz: {m.f: []}",
			log:   "z? z",
			ended: "x=not-needed y=not-needed z=ok",
		},
		"C-43_reaction_of_the_target": {
			src:   "x: {m.f: [{prereq: [y]}]}\ny: {m.f: [{watch: [z]}]}\nz: {m.changes: []}",
			log:   "z y? y?! x y y!",
			ended: "x=ok y=changed z=changed",
		},
		"test_mode": {
			src: "x: {m.f: [{watch: [y]}]}\ny: {m.changes: []}\nz: {m.f: [{onchanges: [y]}]}", opts: Options{Test: true},
			log: "y? x? x?! z?", ended: "x=changed y=changed z=ok",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			log, ended := runIt(t, mustCompile(t, test.src), test.opts)
			if log != test.log {
				t.Errorf("calls: %s\n want: %s", log, test.log)
			}
			if ended != test.ended {
				t.Errorf("ended: %s\n want: %s", ended, test.ended)
			}
		})
	}
	t.Run("C-34_because_of_the_requisite", func(t *testing.T) {
		low := mustCompile(t, "x: {m.f: [{require: [w, y]}]}\nw: {m.f: []}\ny: {m.fails: []}\nz: {m.f: [{watch: [x]}]}")
		f := &fake{}
		because := map[string]string{}
		for _, result := range Run(t.Context(), low, Options{Functions: f}) {
			if result.Because != nil {
				because[result.Call.ID] = result.Because.ID
				if result.Status.Success() || !strings.Contains(result.Comment, result.Because.String()) {
					t.Errorf("%s: counts as success: %t, comment %q; "+
						"want a failure with the name of %s", result.Call, result.Status.Success(), result.Comment, result.Because)
				}
			}
		}
		if diff := cmp.Diff(map[string]string{"x": "y", "z": "x"}, because); diff != "" {
			t.Errorf("on account of (-want +got):\n%s", diff)
		}
	})
}

// TestOrderCTruthTable has each cell of the table of kinds: the outcome of x, whose only target is
// t.
func TestOrderCTruthTable(t *testing.T) {
	// How to make a target end in each way.
	targets := map[string]string{
		"skipped":              "t: {m.f: [{require: [u]}]}\nu: {m.fails: []}\n",
		"failed":               "t: {m.fails: []}\n",
		"failed after changes": "t: {m.changes_and_fails: []}\n",
		"ok":                   "t: {m.f: []}\n",
		"changed":              "t: {m.changes: []}\n",
	}
	const (
		noRun     = "x=skipped"
		noNeed    = "x=not-needed"
		runs      = "x=ok"
		andReacts = "x=changed"
	)
	for _, row := range []struct {
		name, kind                   string
		skipped, failed, ok, changed string
		failedAfterChanges           string
	}{
		{"C-require", compile.Require, noRun, noRun, runs, runs, noRun},
		{"C-require_any", compile.RequireAny, noRun, noRun, runs, runs, noRun},
		{"C-watch", compile.Watch, noRun, noRun, runs, andReacts, noRun},
		{"C-watch_any", compile.WatchAny, noRun, noRun, runs, andReacts, noRun},
		{"C-listen", compile.Listen, runs, runs, runs, andReacts, andReacts},
		{"C-onchanges", compile.OnChanges, noRun, noRun, noNeed, runs, noRun},
		{"C-onchanges_any", compile.OnChangesAny, noRun, noRun, noNeed, runs, noRun},
		{"C-onfail", compile.OnFail, runs, runs, noNeed, noNeed, runs},
		{"C-onfail", compile.OnFailAny, runs, runs, noNeed, noNeed, runs},
		{"C-onfail_all", compile.OnFailAll, runs, runs, noNeed, noNeed, runs},
		{"C-prereq", compile.Prereq, noRun, noRun, noNeed, runs, noRun},
		{"C-use", compile.Use, runs, runs, runs, runs, runs},
	} {
		for column, want := range map[string]string{
			"skipped": row.skipped, "failed": row.failed, "ok": row.ok, "changed": row.changed, "failed after changes": row.failedAfterChanges,
		} {
			for form, src := range map[string]string{
				"plain":       "x: {m.f: [{" + row.kind + ": [t]}]}\n" + targets[column],
				"turned":      "x: {m.f: []}\n" + strings.Replace(targets[column], "[", "[{"+row.kind+"_in: [x]}, ", 1),
				"target_last": targets[column] + "x: {m.f: [{" + row.kind + ": [t]}]}\n",
			} {
				t.Run(row.name+"/"+row.kind+"/"+column+"/"+form, func(t *testing.T) {
					log, ended := runIt(t, mustCompile(t, src), Options{})
					if got := ended[strings.LastIndex(ended, "x="):]; got != want {
						t.Errorf("%s: got %s, want %s", src, got, want)
					}
					calls := strings.Fields(log)
					if got, want := slices.Contains(calls, "x"), want == runs || want == andReacts; got != want {
						t.Errorf("%s: called: %t, want %t", src, got, want)
					}
					if got, want := slices.Contains(calls, "x!"), want == andReacts; got != want {
						t.Errorf("%s: reaction made: %t, want %t", src, got, want)
					}
					if !slices.Contains(calls, "t") && (column == "ok" || column == "changed") {
						t.Errorf("%s: the target is not called", src)
					}
				})
			}
		}
	}
	several := map[string]struct{ kind, targets, want string }{
		"C-require_any/one of two":     {compile.RequireAny, "failed+ok", runs},
		"C-require/one of two":         {compile.Require, "failed+ok", noRun},
		"C-watch_any/one of two":       {compile.WatchAny, "failed+changed", andReacts},
		"C-watch_any/no change":        {compile.WatchAny, "failed+ok", runs},
		"C-watch/one of two":           {compile.Watch, "failed+changed", noRun},
		"C-watch/one changed":          {compile.Watch, "ok+changed", andReacts},
		"C-onchanges/one changed":      {compile.OnChanges, "ok+changed", runs},
		"C-onchanges/one failed":       {compile.OnChanges, "failed+changed", noRun},
		"C-onchanges/one skipped":      {compile.OnChanges, "changed+skipped", noRun},
		"C-onchanges_any/one failed":   {compile.OnChangesAny, "failed+changed", runs},
		"C-onchanges_any/one skipped":  {compile.OnChangesAny, "skipped+changed", runs},
		"C-onchanges_any/none changed": {compile.OnChangesAny, "failed+ok", noRun},
		"C-onchanges_any/none failed":  {compile.OnChangesAny, "ok+ok", noNeed},
		"C-onfail/one failed":          {compile.OnFail, "ok+failed", runs},
		"C-onfail_all/one failed":      {compile.OnFailAll, "ok+failed", noNeed},
		"C-onfail/one skipped":         {compile.OnFail, "ok+skipped", runs},
		"C-onfail_all/all failed":      {compile.OnFailAll, "failed+failed", runs},
		"C-onfail_all/or skipped":      {compile.OnFailAll, "failed+skipped", runs},
		"C-onfail_all/one skipped":     {compile.OnFailAll, "ok+skipped", noNeed},
		"C-listen/two changed":         {compile.Listen, "changed+changed", andReacts},
	}
	for name, test := range several {
		t.Run(name, func(t *testing.T) {
			a, b, _ := strings.Cut(test.targets, "+")
			src := "x: {m.f: [{" + test.kind + ": [t1, t2]}]}\n" + tableTarget("t1", a) + tableTarget("t2", b)
			log, ended := runIt(t, mustCompile(t, src), Options{})
			if got := ended[strings.LastIndex(ended, "x="):]; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if strings.Count(log, "x!") > 1 {
				t.Errorf("the reaction was made more than once: %s", log)
			}
		})
	}
	t.Run("C-listen/at the very end", func(t *testing.T) {
		log, _ := runIt(t, mustCompile(t, "x: {m.f: [{listen: [y]}]}\ny: {m.changes: []}\nz: {m.f: []}"), Options{})
		if want := "x y z x!"; log != want {
			t.Errorf("calls: %s, want %s", log, want)
		}
	})
	t.Run("C-listen/to what has changed in the run itself", func(t *testing.T) {
		for src, want := range map[string]string{
			"a: {m.f: [{listen: [y]}]}\nb: {m.f: [{listen: [a]}]}\ny: {m.changes: []}":        "a b y a!",
			"b: {m.f: [{listen: [a]}]}\na: {m.f: [{listen: [y]}]}\ny: {m.changes: []}":        "b a y a!",
			"a: {m.f: [{listen: [b]}]}\nb: {m.f: [{listen: [a]}]}":                            "a b",
			"a: {m.changes: [{listen: [b]}]}\nb: {m.changes: [{listen: [a]}]}":                "a b a! b!",
			"a: {m.fails: [{listen: [y]}]}\ny: {m.changes: []}":                               "a y",
			"a: {m.f: [{listen: [y]}]}\ny: {m.changes_and_fails: []}\nz: {m.f: []}":           "a y z a!",
			"a: {m.f: [{listen: [y]}, {require: [x]}]}\nx: {m.fails: []}\ny: {m.changes: []}": "x y",
		} {
			if log, _ := runIt(t, mustCompile(t, src), Options{}); log != want {
				t.Errorf("%s: calls %s, want %s", src, log, want)
			}
		}
	})
	t.Run("C-onchanges/fine for those that require it", func(t *testing.T) {
		_, ended := runIt(t, mustCompile(t, "x: {m.f: [{onchanges: [y]}]}\ny: {m.f: []}\nz: {m.f: [{require: [x]}]}"), Options{})
		if want := "x=not-needed y=ok z=ok"; ended != want {
			t.Errorf("got %s, want %s", ended, want)
		}
	})
	t.Run("files without calls", func(t *testing.T) {
		for kind, want := range map[string]string{
			compile.Require: "x=ok", compile.RequireAny: "x=ok", compile.Watch: "x=ok", compile.WatchAny: "x=ok", compile.Listen: "x=ok",
			compile.OnChanges: "x=not-needed", compile.OnChangesAny: "x=not-needed", compile.OnFail: "x=not-needed",
			compile.OnFailAll: "x=not-needed", compile.Prereq: "x=not-needed",
		} {
			_, ended := runIt(t, mustCompile(t, "include: [b]\nx: {m.f: [{"+kind+": [{sls: b}]}]}\n-- b.sls --\ninclude: [c]\n-- c.sls --\n"),
				Options{})
			if ended != want {
				t.Errorf("%s: %s, want %s", kind, ended, want)
			}
		}
	})
}

func TestRunIsInterrupted(t *testing.T) {
	low := mustCompile(t, "a: {m.changes: []}\nb: {m.f: []}\nc: {m.f: [{listen: [a]}, {order: 1}]}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fake{}
	results := Run(ctx, low, Options{Functions: f, Started: func(call *compile.Call) {
		if call.ID == "a" {
			cancel()
		}
	}})
	if got := strings.Join(f.log, " "); got != "c a" {
		t.Errorf("calls: %s, want c a", got)
	}
	if last := results[len(results)-1]; last.Call.ID != "b" || last.Status != NotStarted {
		t.Errorf("got %v", last)
	}
}

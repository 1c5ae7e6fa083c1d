// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"cmp"
	"context"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// testFunctions change nothing and return the outcome that their arguments ask for.
func testFunctions() map[string]*function {
	ends := func(changed, failed bool, comment string) *function {
		return &function{
			args: map[string]kind{"comment": text},
			call: func(_ context.Context, c *call) schedule.Outcome {
				return pretended(changed, failed, cmp.Or(c.text("comment"), comment))
			},
		}
	}
	all := map[string]*function{
		"test.nop":                     ends(false, false, ""),
		"test.succeed_without_changes": ends(false, false, "Success, as asked for."),
		"test.succeed_with_changes":    ends(true, false, "Success with changes, as asked for."),
		"test.fail_without_changes":    ends(false, true, "Failure, as asked for."),
		"test.fail_with_changes":       ends(true, true, "Failure with changes, as asked for."),
		"test.configurable_test_state": {
			args:  map[string]kind{"changes": anything, "result": anything, "comment": text},
			check: checkConfigurable,
			call: func(_ context.Context, c *call) schedule.Outcome {
				return pretended(c.boolean("changes", true), !c.boolean("result", true), c.text("comment"))
			},
		},
		"test.show_notification": {
			args: map[string]kind{"text": text},
			call: func(_ context.Context, c *call) schedule.Outcome { return schedule.Outcome{Comment: c.text("text")} },
		},
	}
	all["test.nop"].any = true
	for _, f := range all {
		f.react = func(context.Context, *call) schedule.Outcome {
			changes := &compile.Map{}
			changes.Set("watched", "changed")
			return schedule.Outcome{Changed: true, Changes: changes, Comment: "Something has changed that it watches."}
		}
	}
	return all
}

func checkConfigurable(c *call) error {
	for _, name := range []string{"changes", "result"} {
		if !c.given(name) {
			continue
		}
		if _, ok := c.Args.Get(name).(bool); !ok {
			return wrongArgument(name, "\"changes\" and \"result\" must be true or false: a run does the same each time, so that nothing is random")
		}
	}
	return nil
}

func pretended(changed, failed bool, comment string) schedule.Outcome {
	outcome := schedule.Outcome{Changed: changed, Failed: failed, Comment: comment}
	if changed {
		pretended := &compile.Map{}
		pretended.Set("old", "unchanged")
		pretended.Set("new", "pretended to be changed")
		outcome.Changes = &compile.Map{}
		outcome.Changes.Set("testing", pretended)
	}
	return outcome
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terragrunt"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// FromTerragrunt makes a workspace file of units of Terragrunt, which must have an order.
func FromTerragrunt(units []*terragrunt.Unit) Result {
	w := newWriter()
	taken, named := names{}, map[string]string{}
	for _, u := range units {
		at := problem.PlaceOf(u.Range)
		if !writable(u.Dir) {
			w.loseOrder(at, "The unit %s: a workspace file cannot name its directory", u.Dir)
			named[u.Dir] = ""
			continue
		}
		named[u.Dir] = w.nameOfDir(taken, "unit", u.Dir, at)
	}
	units = slices.DeleteFunc(slices.Clone(units), func(u *terragrunt.Unit) bool { return named[u.Dir] == "" })
	in := unknownIn(units)
	if len(units) > 0 {
		w.comment(howToRun(units)...)
	}
	for _, u := range units {
		at := problem.PlaceOf(u.Range)
		b := w.block(cairnfile.StackType, named[u.Dir], at)
		b.text("path", u.Dir)
		if u.Source != "" {
			b.text("kind", string(rollout.Root))
			w.lose(at, "The source %q of %s: run it with cairn run -- terragrunt, or write a root module that calls it", u.Source, u.Dir)
		}
		var after []string
		for _, d := range u.Dependencies {
			name, there := named[d.Dir]
			switch {
			case !there:
				w.lose(problem.PlaceOf(d.Range), "That %s depends on %s, where there is no unit", u.Dir, d.Dir)
			case name == "":
				w.loseOrder(problem.PlaceOf(d.Range), "That %s depends on %s, which was dropped", u.Dir, d.Dir)
			default:
				after = append(after, name)
			}
		}
		slices.Sort(after)
		b.list("after", after)
		b.texts("variables", u.Inputs)
		for _, unknown := range u.Unknown {
			at := problem.PlaceOf(unknown.Range)
			dirs := in[unknownAt{unknown.What, at}]
			if dirs[0] != u.Dir {
				continue // it was reported with the first unit
			}
			who := u.Dir
			if len(dirs) > 1 {
				who = fmt.Sprintf("%s and %d more", u.Dir, len(dirs)-1)
			}
			w.Lost = append(w.Lost, Loss{What: "Of " + who + ": " + unknown.What, Place: at, Order: unknown.Order})
		}
	}
	return w.result()
}

// howToRun returns the commands to run the units with, for the head of the file: a module that is
// named by a source is fetched by terragrunt alone.
func howToRun(units []*terragrunt.Unit) []string {
	withSource := 0
	for _, u := range units {
		if u.Source != "" {
			withSource++
		}
	}
	byTerragrunt := []string{
		"  cairn run -- terragrunt plan",
		"  cairn run -- terragrunt apply -auto-approve",
		"",
		`"cairn list -run-order" shows the order; "-changed -base=REF" after "run" takes those that have changed.`,
	}
	if withSource == 0 {
		return append([]string{
			"Units of Terragrunt with root modules of their own. cairn plans and applies them itself, with",
			"nothing of their terragrunt.hcl but the inputs and the order below:",
			"",
			"  cairn run plan",
			"  cairn run apply",
			"",
			"Or terragrunt does, in that order:",
			"",
		}, byTerragrunt...)
	}
	return append([]string{
		"Units of Terragrunt. Those with a source are run by terragrunt, which fetches their modules:",
		"",
	}, byTerragrunt...)
}

// unknownAt is something unknown in a file, which many units may include.
type unknownAt struct {
	what  string
	place order.Place
}

// unknownIn returns the directories of the units that have something unknown, in their order.
func unknownIn(units []*terragrunt.Unit) map[unknownAt][]string {
	in := map[unknownAt][]string{}
	for _, u := range units {
		for _, unknown := range u.Unknown {
			key := unknownAt{unknown.What, problem.PlaceOf(unknown.Range)}
			in[key] = append(in[key], u.Dir)
		}
	}
	return in
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

// verdict says whether a call is made: with the status OK it is, with Skipped a requisite is not
// met, with NotNeeded there is nothing to do.
type verdict struct {
	status  Status
	because *compile.Call
	comment string
}

var proceed = verdict{status: OK}

var kinds = compile.Kinds()

func skipped(kind string, because *compile.Call, what string) verdict {
	return verdict{Skipped, because, fmt.Sprintf("Not made: of its %q requisites, %s %s.", kind, because, what)}
}

func notNeeded(kind string, because *compile.Call, what string) verdict {
	return verdict{NotNeeded, because, fmt.Sprintf("Not needed: of its %q requisites, %s %s.", kind, because, what)}
}

// decide checks the requisites of a call, kind by kind. A requisite that is not met decides before
// one that makes the call needless. For a trial, calls that are made only after the trial do not
// count.
func (r *run) decide(call int, trial bool) verdict {
	needless := proceed
	for _, kind := range kinds {
		targets := r.Requisites(call, kind)
		if trial {
			targets = slices.DeleteFunc(slices.Clone(targets), func(target int) bool { return slices.Contains(r.Prerequired(call), target) })
		}
		if !trial && len(targets) == 0 && reacts(kind) && r.Calls[call].Args.Get(kind) != nil && needless.status == OK {
			needless = verdict{NotNeeded, nil, fmt.Sprintf("Not needed: its %q requisites name files without calls.", kind)}
		}
		if len(targets) == 0 {
			continue
		}
		switch v := r.decideKind(kind, targets); {
		case v.status == Skipped:
			return v
		case v.status == NotNeeded && needless.status == OK:
			needless = v
		}
	}
	if trial {
		return needless
	}
	for _, other := range r.Prerequired(call) {
		if status := r.states[other].result.Status; !status.Success() {
			return skipped(compile.Prereq+"_in", r.Calls[other], outcomeWords(status))
		}
	}
	return needless
}

func (r *run) decideKind(kind string, targets []int) verdict {
	switch kind {
	case compile.Require, compile.Watch:
		return r.all(kind, targets)
	case compile.RequireAny, compile.WatchAny:
		return r.any(kind, targets)
	case compile.Prereq:
		return r.prerequired(targets)
	case compile.OnFail, compile.OnFailAny:
		return r.onFailure(kind, targets, false)
	case compile.OnFailAll:
		return r.onFailure(kind, targets, true)
	case compile.OnChanges:
		return r.onChanges(kind, targets, false)
	case compile.OnChangesAny:
		return r.onChanges(kind, targets, true)
	}
	return proceed
}

// reacts reports whether requisites of a kind are reasons for a call, which is not made without
// one.
func reacts(kind string) bool {
	switch kind {
	case compile.Prereq, compile.OnFail, compile.OnFailAny, compile.OnFailAll, compile.OnChanges, compile.OnChangesAny:
		return true
	}
	return false
}

// all skips a call if one target did not succeed.
func (r *run) all(kind string, targets []int) verdict {
	for _, target := range targets {
		if status := r.states[target].result.Status; !status.Success() {
			return skipped(kind, r.Calls[target], outcomeWords(status))
		}
	}
	return proceed
}

// any skips a call if no target succeeded.
func (r *run) any(kind string, targets []int) verdict {
	for _, target := range targets {
		if r.states[target].result.Status.Success() {
			return proceed
		}
	}
	first := targets[0]
	return skipped(kind, r.Calls[first], outcomeWords(r.states[first].result.Status)+", and so with all others")
}

// prerequired decides on a call that is made before others, if they would change something.
func (r *run) prerequired(targets []int) verdict {
	would := false
	for _, target := range targets {
		s := r.states[target]
		if s.ended && !s.result.Status.Success() {
			return skipped(compile.Prereq, r.Calls[target], outcomeWords(s.result.Status))
		}
		would = would || s.would
	}
	if !would {
		return notNeeded(compile.Prereq, r.Calls[targets[0]], "would change nothing")
	}
	return proceed
}

// onFailure decides on a call that is made if others fail: one of them, or all. A call kept from
// being made by a failure counts as failed.
func (r *run) onFailure(kind string, targets []int, all bool) verdict {
	var succeeded *compile.Call
	failed := 0
	for _, target := range targets {
		if !r.states[target].result.Status.Success() {
			failed++
		} else if succeeded == nil {
			succeeded = r.Calls[target]
		}
	}
	if failed == len(targets) || failed > 0 && !all {
		return proceed
	}
	return notNeeded(kind, succeeded, "did not fail")
}

// onChanges decides on a call that is made if others change something: all of them must have
// succeeded, or with enough the one that has changed something. A failed call may be the one that
// would have changed something, so that the call does not count as needless.
func (r *run) onChanges(kind string, targets []int, enough bool) verdict {
	changed, failed := false, -1
	for _, target := range targets {
		switch status := r.states[target].result.Status; {
		case status == Changed:
			changed = true
		case !status.Success() && failed < 0:
			failed = target
		}
	}
	switch {
	case changed && (enough || failed < 0):
		return proceed
	case failed >= 0:
		return skipped(kind, r.Calls[failed], outcomeWords(r.states[failed].result.Status))
	}
	return notNeeded(kind, r.Calls[targets[0]], "changed nothing")
}

func outcomeWords(s Status) string {
	switch s {
	case Failed:
		return "has failed"
	case Skipped:
		return "was skipped"
	case NotStarted:
		return "was not started"
	}
	return "is " + s.String()
}

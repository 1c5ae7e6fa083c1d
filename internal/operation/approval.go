// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// CodeWaiting is of a plan that was saved until somebody approves it. As with CodeNotApproved of
// package statechange, that it is not applied is another end for a caller than a failure.
const CodeWaiting fault.Code = "operation/waiting"

// How plans are approved that no rule has approved, as the history says it.
const (
	ByAnswer    = "answer"
	ByOption    = "auto-approve"
	BySavedPlan = "saved plan"
	ByPage      = "page"
)

// judge has a plan judged by the rules for the deployment, and shows the judgement. Without
// deployment files there is only the built-in rule, which nobody needs to be told of.
func (r *run) judge(ctx context.Context, plan *stackplan.Plan, diags hcl.Diagnostics) hcl.Diagnostics {
	facts := approval.Facts{Deployment: r.stored.Deployment, Replans: r.req.Replans + max(r.round-1, 0), Diagnostics: diags}
	if r.values.block == nil {
		r.outcome.judged = approval.Judge(ctx, nil, nil, plan, facts)
		return nil
	}
	evaluator, _, err := r.values.evaluator(planName)
	if err != nil {
		return Diagnostics(err)
	}
	r.outcome.judged = approval.Judge(ctx, r.stack.sources.Declared(), evaluator, plan, facts)
	if r.caller.Judged == nil {
		return nil
	}
	return Diagnostics(r.caller.Judged(r.outcome.judged))
}

// decide reports whether a plan that changes something is to be applied now. If not, the
// diagnostics say why.
func (r *run) decide(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) (bool, hcl.Diagnostics) {
	switch {
	case r.outcome.judged.Approved():
		r.outcome.approvedBy = ByRules(r.outcome.judged.Rules)
		return true, nil
	case r.req.ApproveLater:
		return false, r.wait(ctx, plan)
	}
	if err := r.caller.approve(ctx, plan, warnings); err != nil {
		return false, r.withUntouched(Diagnostics(err))
	}
	r.outcome.approvedBy = r.caller.Approver
	return true, nil
}

// ByRules says for the history that rules have approved a plan.
func ByRules(names []string) string {
	if len(names) == 1 {
		return "rule " + names[0]
	}
	return "rules " + strings.Join(names, ", ")
}

// wait saves a plan until somebody approves it.
func (r *run) wait(ctx context.Context, plan *stackplan.Plan) hcl.Diagnostics {
	if err := r.stack.sources.PrepareWaiting(); err != nil {
		return Diagnostics(err)
	}
	file := r.stack.env.WaitingPlan(r.stored.Deployment)
	if err := r.savePlan(ctx, file, plan); err != nil {
		return Diagnostics(err)
	}
	r.outcome.waiting = true
	return hcl.Diagnostics{failure.With(CodeWaiting, failure.Warning("Plan waits for approval", "Plan %s is saved in %s, and can be applied "+
		"from there as it is. %s", stackplan.ShortIdentity(r.outcome.identity), file, r.untouched()))}
}

// cause is the cause of the serials that the operation makes. Stacks without deployment files have
// no approver but the caller of the operation.
func (r *run) cause() deployment.Cause {
	cause := deployment.Cause{Operation: r.name, Plan: stackplan.ShortIdentity(r.saved)}
	if r.values.block != nil {
		cause.ApprovedBy = r.outcome.approvedBy
	}
	return cause
}

// DescribeSerial returns the document of a serial of a state.
func DescribeSerial(v statestore.Version) document.Serial {
	cause := deployment.CauseOf(v)
	return document.Serial{
		Serial: v.Serial, Operation: cause.Operation, Plan: cause.Plan, ApprovedBy: cause.ApprovedBy,
		Owner: v.Owner, Host: v.Host, Started: v.Started.UTC(),
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package authority decides which calls of a server of Temporal a client may make, by the common
// name of its certificate.
//
// A worker may take tasks from the queues of its own pools, and report on them. An orchestrator may
// start work, cancel it, wait for it and look at it. A name may be both. Nobody may do anything
// else, such as registering namespaces.
//
// Rules:
//
//	A1. A call that no rule names is refused, so that calls of later versions are, too.
//	A2. A rule for the queue Q covers Q and all queues below it, Q/…, and not those whose name only
//	    begins alike.
//	A3. Only the server's own services, which connect with certificates that it made for itself, are
//	    free of the rules.
//
// Not guaranteed: a report names its task by a token, which does not say from which queue the task
// was. A worker that learns the token of another pool's task can report on that task. Where that
// matters, pools need namespaces, and servers, of their own.
package authority

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/api"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
)

// Rules say who may do what. The zero value allows nobody anything.
type Rules struct {
	workers       map[string][]string // queues, by common names
	orchestrators []string            // common names
}

var (
	_ authorization.Authorizer  = (*Rules)(nil)
	_ authorization.ClaimMapper = Certificates{}
)

// AllowWorker adds a rule NAME:QUEUE.
func (r *Rules) AllowWorker(rule string) error {
	colon := strings.LastIndexByte(rule, ':') // which names may have in them, and queues of cairn do not
	if colon <= 0 || colon == len(rule)-1 || strings.HasSuffix(rule, "/") {
		return fmt.Errorf("%q is not of the form NAME:QUEUE, as in worker-prod:cairn/prod", rule)
	}
	if r.workers == nil {
		r.workers = map[string][]string{}
	}
	r.workers[rule[:colon]] = append(r.workers[rule[:colon]], rule[colon+1:])
	return nil
}

// AllowOrchestrator adds a common name.
func (r *Rules) AllowOrchestrator(name string) error {
	if name == "" {
		return errors.New("the name of an orchestrator is empty")
	}
	r.orchestrators = append(r.orchestrators, name)
	return nil
}

// Complete reports whether there are rules of both kinds, without which no work can be done.
func (r *Rules) Complete() bool { return len(r.workers) > 0 && len(r.orchestrators) > 0 }

// Authorize implements [authorization.Authorizer].
func (r *Rules) Authorize(_ context.Context, caller *authorization.Claims, target *authorization.CallTarget) (authorization.Result, error) {
	if reason := r.refuse(caller, target); reason != "" {
		return authorization.Result{Decision: authorization.DecisionDeny, Reason: reason}, nil
	}
	return authorization.Result{Decision: authorization.DecisionAllow}, nil
}

// refuse returns why a call is refused, "" if it is not.
func (r *Rules) refuse(caller *authorization.Claims, target *authorization.CallTarget) string {
	switch {
	case authorization.IsHealthCheckAPI(target.APIName):
		return ""
	case caller == nil:
		return "a certificate with a common name is needed"
	case caller.System == authorization.RoleAdmin: // rule A3
		return ""
	}
	method, ok := strings.CutPrefix(target.APIName, api.WorkflowServicePrefix)
	queues, isWorker := r.workers[caller.Subject]
	isOrchestrator := slices.Contains(r.orchestrators, caller.Subject)
	switch {
	case !ok:
	case everybody[method]:
		if isWorker || isOrchestrator {
			return ""
		}
	case isOrchestrator && orchestrator[method]:
		return ""
	case isWorker && worker[method]:
		for _, queue := range queuesOf(target.Request) {
			if !covered(queue, queues) {
				return fmt.Sprintf("%q may not work for the task queue %q", caller.Subject, queue)
			}
		}
		return ""
	}
	return fmt.Sprintf("%q may not call %s", caller.Subject, target.APIName[strings.LastIndexByte(target.APIName, '/')+1:])
}

// covered reports whether a queue is one of the allowed ones or below them (rule A2).
func covered(queue string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(rule string) bool {
		return queue == rule || strings.HasPrefix(queue, rule+"/")
	})
}

// The calls of the service of Temporal that each kind of client makes.
var (
	everybody = map[string]bool{
		"GetSystemInfo":     true,
		"DescribeNamespace": true,
	}
	orchestrator = map[string]bool{
		"StartActivityExecution":         true,
		"RequestCancelActivityExecution": true,
		"TerminateActivityExecution":     true,
		"PollActivityExecution":          true,
		"DescribeActivityExecution":      true,
		"ListActivityExecutions":         true,
		"CountActivityExecutions":        true,
		"DescribeTaskQueue":              true,
		"ListWorkers":                    true,
		"DescribeWorker":                 true,
	}
	worker = map[string]bool{
		"PollActivityTaskQueue":        true,
		"RecordActivityTaskHeartbeat":  true,
		"RespondActivityTaskCompleted": true,
		"RespondActivityTaskFailed":    true,
		"RespondActivityTaskCanceled":  true,
		"RecordWorkerHeartbeat":        true,
		"ShutdownWorker":               true,
	}
)

// queuesOf returns the names of the queues that a worker's request is about.
func queuesOf(request any) (names []string) {
	switch request := request.(type) {
	case interface{ GetTaskQueue() *taskqueuepb.TaskQueue }:
		names = append(names, request.GetTaskQueue().GetName(), request.GetTaskQueue().GetNormalName())
	case *workflowservice.ShutdownWorkerRequest:
		names = append(names, request.GetTaskQueue())
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Certificates maps certificates to their common names.
type Certificates struct{}

// Mapper returns the mapper, as options of the server want it.
func Mapper(*config.Config) authorization.ClaimMapper { return Certificates{} }

// GetClaims implements [authorization.ClaimMapper].
func (Certificates) GetClaims(info *authorization.AuthInfo) (*authorization.Claims, error) {
	if info.TLSSubject == nil || info.TLSSubject.CommonName == "" {
		return nil, errors.New("a certificate with a common name is needed")
	}
	return &authorization.Claims{Subject: info.TLSSubject.CommonName, AuthType: "certificate"}, nil
}

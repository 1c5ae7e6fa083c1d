// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package authority_test

import (
	"crypto/x509/pkix"
	"testing"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"

	"github.com/cairnstacks/cairn/server/internal/authority"
)

const service = "/temporal.api.workflowservice.v1.WorkflowService/"

func rules(t *testing.T) *authority.Rules {
	t.Helper()
	r := &authority.Rules{}
	for _, rule := range []string{"prod:cairn/prod", "dev:cairn/dev", "dev:cairn/test", "both:cairn/both"} {
		if err := r.AllowWorker(rule); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"orchestrator", "both"} {
		if err := r.AllowOrchestrator(name); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func poll(queue, normal string) any {
	return &workflowservice.PollActivityTaskQueueRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: queue, NormalName: normal}}
}

func shutdown(queue string) any { return &workflowservice.ShutdownWorkerRequest{TaskQueue: queue} }

// Other requests.
var (
	report       = &workflowservice.RespondActivityTaskCompletedRequest{}
	workflowPoll = &workflowservice.PollWorkflowTaskQueueRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: "cairn/prod"}}
	byName       = &workflowservice.RespondActivityTaskCompletedByIdRequest{}
	cancel       = &workflowservice.RequestCancelActivityExecutionRequest{}
)

func start(queue string) any {
	return &workflowservice.StartActivityExecutionRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: queue}}
}

func TestAuthorize(t *testing.T) {
	for _, test := range []struct {
		name, caller, call string
		request            any
		want               bool
	}{
		{"own queue", "prod", service + "PollActivityTaskQueue", poll("cairn/prod", ""), true},
		{"version of the own queue", "prod", service + "PollActivityTaskQueue", poll("cairn/prod/1", ""), true},
		{"second rule", "dev", service + "PollActivityTaskQueue", poll("cairn/test/1", ""), true},
		{"queue of others", "dev", service + "PollActivityTaskQueue", poll("cairn/prod", ""), false},
		{"version of a queue of others", "dev", service + "PollActivityTaskQueue", poll("cairn/prod/1", ""), false},
		{"queue that begins alike", "prod", service + "PollActivityTaskQueue", poll("cairn/prod-plan", ""), false},
		{"partition of a queue", "prod", service + "PollActivityTaskQueue", poll("/_sys/cairn/prod/1", ""), false},
		{"normal name of others", "dev", service + "PollActivityTaskQueue", poll("cairn/dev", "cairn/prod"), false},
		{"queue above the rule", "prod", service + "PollActivityTaskQueue", poll("cairn", ""), false},
		{"workflow tasks", "prod", service + "PollWorkflowTaskQueue", workflowPoll, false},
		{"heartbeat", "prod", service + "RecordActivityTaskHeartbeat", &workflowservice.RecordActivityTaskHeartbeatRequest{}, true},
		{"report", "prod", service + "RespondActivityTaskCompleted", report, true},
		{"report by name", "prod", service + "RespondActivityTaskCompletedById", byName, false},
		{"end of a worker", "prod", service + "ShutdownWorker", shutdown("cairn/prod"), true},
		{"end of a worker of others", "prod", service + "ShutdownWorker", shutdown("cairn/dev"), false},
		{"worker starts work", "prod", service + "StartActivityExecution", start("cairn/prod"), false},
		{"worker cancels work", "prod", service + "RequestCancelActivityExecution", cancel, false},
		{"worker reads results", "prod", service + "PollActivityExecution", &workflowservice.PollActivityExecutionRequest{}, false},
		{"orchestrator starts work", "orchestrator", service + "StartActivityExecution", start("cairn/prod"), true},
		{"orchestrator cancels work", "orchestrator", service + "RequestCancelActivityExecution", cancel, true},
		{"orchestrator waits for work", "orchestrator", service + "PollActivityExecution", &workflowservice.PollActivityExecutionRequest{}, true},
		{"orchestrator takes tasks", "orchestrator", service + "PollActivityTaskQueue", poll("cairn/prod", ""), false},
		{"orchestrator reports", "orchestrator", service + "RespondActivityTaskCompleted", report, false},
		{"both starts work", "both", service + "StartActivityExecution", start("cairn/prod"), true},
		{"both takes tasks", "both", service + "PollActivityTaskQueue", poll("cairn/both", ""), true},
		{"both takes tasks of others", "both", service + "PollActivityTaskQueue", poll("cairn/prod", ""), false},
		{"system info", "dev", service + "GetSystemInfo", nil, true},
		{"namespace", "orchestrator", service + "DescribeNamespace", nil, true},
		{"stranger takes tasks", "stranger", service + "PollActivityTaskQueue", poll("cairn/prod", ""), false},
		{"stranger sees a namespace", "stranger", service + "DescribeNamespace", nil, false},
		{"health", "stranger", "/grpc.health.v1.Health/Check", nil, true},
		{"nobody", "", service + "DescribeNamespace", nil, false},
		{"namespaces", "orchestrator", service + "RegisterNamespace", nil, false},
		{"administration", "orchestrator", "/temporal.server.api.adminservice.v1.AdminService/DescribeCluster", nil, false},
		{"operators", "both", "/temporal.api.operatorservice.v1.OperatorService/DeleteNamespace", nil, false},
		{"unknown call", "both", service + "NewerThanThis", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var claims *authorization.Claims
			if test.caller != "" {
				var err error
				certificate := &authorization.AuthInfo{TLSSubject: &pkix.Name{CommonName: test.caller}}
				if claims, err = (authority.Certificates{}).GetClaims(certificate); err != nil {
					t.Fatal(err)
				}
			}
			got, err := rules(t).Authorize(t.Context(), claims, &authorization.CallTarget{APIName: test.call, Request: test.request})
			if err != nil || (got.Decision == authorization.DecisionAllow) != test.want {
				t.Errorf("Authorize(%q, %s): got %+v, error %v; want allowed = %t", test.caller, test.call, got, err, test.want)
			}
			if !test.want && got.Reason == "" {
				t.Error("no reason for the refusal")
			}
		})
	}
}

func TestServicesAreFree(t *testing.T) {
	claims, err := authorization.NewInternalClaimMapper().GetClaims(&authorization.AuthInfo{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := rules(t).Authorize(t.Context(), claims, &authorization.CallTarget{APIName: service + "RegisterNamespace"})
	if err != nil || got.Decision != authorization.DecisionAllow {
		t.Errorf("a service of the server: got %+v, error %v", got, err)
	}
}

func TestCertificatesWithoutNames(t *testing.T) {
	for _, subject := range []*pkix.Name{nil, {}} {
		if claims, err := (authority.Certificates{}).GetClaims(&authorization.AuthInfo{TLSSubject: subject}); err == nil {
			t.Errorf("GetClaims(%v): got %+v, want an error", subject, claims)
		}
	}
}

func TestMistakesInRules(t *testing.T) {
	var r authority.Rules
	for _, rule := range []string{"", "worker", ":cairn/prod", "worker:", "worker:cairn/prod/"} {
		if err := r.AllowWorker(rule); err == nil {
			t.Errorf("AllowWorker(%q): no error", rule)
		}
	}
	if err := r.AllowOrchestrator(""); err == nil {
		t.Error("AllowOrchestrator: no error without a name")
	}
	if r.Complete() {
		t.Error("Complete: got true without rules")
	}
}

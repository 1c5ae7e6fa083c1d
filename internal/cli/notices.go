// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/notice"
)

// notify shows what an operation says while it goes on.
func (s *session) notify(n notice.Notice) {
	switch n := n.(type) {
	case notice.NewDeployment:
		s.note("%s\n", newDeploymentText(n))
	case notice.WaitingForLock:
		s.note("Waiting at most %s for the lock: %s.\n", n.AtMost, deployment.DescribeHolder(&n.Holder))
	case notice.LockTakenOver:
		s.note("The lock of %s (process %d on %s) was taken over: that process, which began %q at %s, is gone.\n",
			n.From.Owner, n.From.PID, n.From.Host, n.From.Operation, n.From.Started.Local().Format("2006-01-02 15:04:05 MST"))
	}
}

func newDeploymentText(n notice.NewDeployment) string {
	const most = 10
	names, more := n.Others, ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d others", len(n.Others)-most)
	}
	return fmt.Sprintf("The deployment %q is new: there is no state of it, but there are those of %s%s.%s",
		n.Name, strings.Join(names, ", "), more, nearest.DidYouMean(n.Name, n.Others))
}

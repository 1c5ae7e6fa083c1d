// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
)

// notify shows a notice of an operation that goes on.
func (s *Session) notify(n notice.Notice) {
	if s.Notice != nil && s.Notice(n) {
		return
	}
	// Operations report facts, and other callers have words of their own. Names of files can hold
	// control characters, which a terminal would obey.
	switch n := n.(type) {
	case notice.NewDeployment:
		s.Note("%s\n", newDeploymentText(n))
	case notice.Working:
		s.noteWork(n.What)
	case notice.EngineLog:
		s.noteWork("The log of the engine (TF_LOG) goes to " + n.File)
	case notice.ProviderFetch:
		s.noteFetch(n)
	case notice.Fetching:
		s.Note("Fetching %s\n", n.Name)
	case notice.ProvidersLocked:
		s.noteLocked(n)
	case notice.IgnoreFileExtended:
		s.Note("Added to %s, since these files hold secrets in clear: %s\n", n.File, safetext.Name(strings.Join(n.Added, ", ")))
	case notice.IgnoreFileUnwritable:
		s.Note("%s cannot be written (%s), so that git may take %s, which holds secrets in clear. Keep it out of commits.\n",
			n.File, n.Reason, safetext.Name(n.Secret))
	case notice.CachesRemoved:
		s.Note("The directory %s was not made here by this user's cairn: "+
			"providers and other files kept there between commands were removed from it, "+
			"and are made anew.\n", n.Dir)
	case notice.WaitingForApply:
		text := n.Component
		if n.PID > 0 {
			text += fmt.Sprintf(", process %d", n.PID)
		}
		s.Note("Waiting for an apply that is still running (%s).\n", text)
	case notice.WaitingForWorker:
		s.NoteLine("%s waits for a worker of the pool %s.", n.Component, n.Pool)
	case notice.Resuming:
		s.Note("%s\n", eventtext.Resuming(n.Done, n.Begun, n.Of))
	case notice.WaitingForLock:
		of := ""
		if n.Part != "" {
			of = " of " + safetext.Name(n.Part)
		}
		s.Note("Waiting at most %s for the lock%s: %s.\n", n.AtMost, of, deployment.DescribeHolder(&n.Holder))
	case notice.WaitingForState:
		s.Note("Waiting at most %s for the state in %s, which cannot be reached (%s).\n", n.AtMost, n.Location, n.Reason)
	case notice.LockTakenOver:
		if n.From.Expired {
			s.Note("The lock of %s (process %d on %s) was taken over: its lease ended at %s. That process, which began %q at %s, "+
				"can change the state no more, but may still be changing infrastructure.\n",
				n.From.Owner, n.From.PID, n.From.Host, n.From.Until.Local().Format("2006-01-02 15:04:05 MST"),
				n.From.Operation, n.From.Started.Local().Format("2006-01-02 15:04:05 MST"))
			return
		}
		s.Note("The lock of %s (process %d on %s) was taken over: that process, which began %q at %s, is gone.\n",
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

// noteWork announces work that takes long, so that a person sees that something is done.
func (s *Session) noteWork(what string) {
	if !s.Options.JSON {
		s.Note("%s...\n", what)
	}
}

// noteLocked names the chosen versions of providers.
func (s *Session) noteLocked(n notice.ProvidersLocked) {
	var texts []string
	for _, c := range n.Changes {
		switch {
		case c.Before == "" && s.ListsProviders:
		case c.Before == "":
			texts = append(texts, fmt.Sprintf("Locked provider %s %s in %s.", c.Provider, c.After, n.File))
		case c.After == "":
			texts = append(texts, fmt.Sprintf("Removed provider %s %s from %s: nothing requires it.", c.Provider, c.Before, n.File))
		default:
			texts = append(texts, fmt.Sprintf("Locked provider %s %s in %s, in place of %s.", c.Provider, c.After, n.File, c.Before))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, "Recorded the versions of providers in "+n.File+".")
	}
	texts = append(texts, "Commit that file, so that everybody uses the same versions; with -lockfile=readonly, it is never changed.")
	if s.Options.JSON {
		s.pending = s.pending.Append(failure.Warning("Provider lock file changed", "%s", strings.Join(texts, " ")))
		return
	}
	for _, text := range texts {
		s.Note("%s\n", text)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// locksDocument is the form of locks for other programs.
type locksDocument struct {
	FormatVersion string          `json:"format_version"`
	Locks         []document.Lock `json:"locks"`
}

func locksCommand() *session.Command {
	return &session.Command{
		Name:    "locks",
		Summary: "Lists who has locked the states of the stack's deployments, since when and until when.",
		Long: `
The process of a lock is running or gone if it is one of this machine, and otherwise unknown. The lock of one that is gone is
taken over by the next command; so is one whose lease has ended, where locks have leases. A saved plan locks the components that it
changes, and those that it was made from so that nobody changes them: PARTS names the former. Everything else locks all.`,
		Example: "cairn state locks",
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			session.StateFlag(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			store, err := s.Stack().States().Store(ctx)
			if err != nil {
				return 0, err
			}
			locks, err := store.Locks(ctx)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, writeLocksDocument(s, locks)
			}
			return cmdline.ExitOK, listLocks(s, locks)
		},
	}
}

func writeLocksDocument(s *session.Session, locks []statestore.LockInfo) error {
	doc := locksDocument{FormatVersion: document.FormatVersion, Locks: []document.Lock{}}
	for _, l := range locks {
		doc.Locks = append(doc.Locks, document.NewLock(l))
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

func listLocks(s *session.Session, locks []statestore.LockInfo) error {
	if len(locks) == 0 {
		s.Note("No state is locked.\n")
		return nil
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DEPLOYMENT\tPARTS\tOPERATION\tBY\tPROCESS\tSINCE\tLAST WRITE\tLEASE UNTIL\tID")
	for _, l := range locks {
		until := "-"
		if !l.Until.IsZero() {
			until = l.Until.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s@%s\t%d %s\t%s\t%s\t%s\t%s\n",
			safetext.Name(l.Deployment), describeParts(l.Locked()), safetext.Name(l.Operation),
			safetext.Name(l.Owner), safetext.Name(l.Host), l.PID, l.Process(),
			l.Started.Local().Format(time.DateTime), l.Seen.Local().Format(time.DateTime), until, l.ID)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	s.Print("%s", b.String())
	return nil
}

// describeParts names the parts that the holder of a lock changes, or says that it only reads.
func describeParts(parts []statestore.Part) string {
	const most = 3
	var changed []string
	readsAll := false
	for _, part := range parts {
		switch name := part.Name(); {
		case part.Exclusive && name == "":
			return "all"
		case part.Exclusive:
			changed = append(changed, safetext.Name(name))
		case name == "":
			readsAll = true
		}
	}
	more := len(changed) - most
	switch {
	case len(changed) == 0 && readsAll:
		return "all, to read"
	case len(changed) == 0:
		return fmt.Sprintf("%d, to read", len(parts))
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(changed[:most], ", "), more)
	}
	return strings.Join(changed, ", ")
}

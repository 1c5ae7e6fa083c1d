// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
)

func removeCommand() *session.Command {
	return &session.Command{
		Name:    "rm",
		Args:    "ADDRESS",
		Summary: "Forgets a component instance or a resource instance without destroying it.",
		Long: `
A forgotten object goes on existing, but cairn does not manage it any more. The next apply creates it again if the
configuration still has it.`,
		Example: "cairn state rm component.network\ncairn state rm component.network.aws_vpc.main",
		MinArgs: 1, MaxArgs: 1,
		Flags: session.LockFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			removed, changed, err := s.Stack().StateChanges().Remove(ctx, args[0])
			if err != nil {
				return 0, err
			}
			showChanged(s, changed)
			s.Print("%s", forgottenText(removed))
			return cmdline.ExitOK, nil
		},
	}
}

// forgottenText lists the objects that are no longer managed.
func forgottenText(removed deployment.Contents) string {
	if len(removed.Objects) == 0 {
		return fmt.Sprintf("Forgotten: %s (objects: 0)\n", removed.Addr)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Forgotten, but not destroyed (objects: %d):\n", len(removed.Objects))
	for _, object := range removed.Objects {
		b.WriteString("  " + object.In(removed.Addr).String() + "\n")
	}
	return b.String()
}

// historyDocument is the output of "state history -json".
type historyDocument struct {
	FormatVersion string         `json:"format_version"`
	Serials       []historyEntry `json:"serials"`
}

type historyEntry struct {
	document.Serial
	Finished *time.Time `json:"finished"` // null when the operation runs, or was killed
	Changed  int64      `json:"records_changed"`
	Total    int64      `json:"records_total"`
}

func historyCommand() *session.Command {
	return &session.Command{
		Name:    "history",
		Summary: "Lists the operations that have changed the state, and when.",
		Example: "cairn state history",
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			versions, err := s.Stack().StateChanges().History(ctx)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, writeHistoryDocument(s, versions)
			}
			var b strings.Builder
			table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "SERIAL\tOPERATION\tPLAN\tBY\tSTARTED\tTOOK\tRECORDS CHANGED")
			for _, v := range versions {
				took := "unfinished"
				if !v.Unfinished() {
					took = v.Finished.Sub(v.Started).Round(100 * time.Millisecond).String()
				}
				cause := deployment.CauseOf(v)
				fmt.Fprintf(table, "%d\t%s\t%s\t%s@%s\t%s\t%s\t%d of %d\n", v.Serial, cause.WithoutPlan(), cmp.Or(cause.Plan, "-"),
					v.Owner, v.Host, v.Started.Local().Format(time.DateTime), took, v.Changed, v.Total)
			}
			if err := table.Flush(); err != nil {
				return 0, err
			}
			s.Print("%s", b.String())
			return cmdline.ExitOK, nil
		},
	}
}

func writeHistoryDocument(s *session.Session, versions []statestore.Version) error {
	doc := historyDocument{FormatVersion: document.FormatVersion, Serials: []historyEntry{}}
	for _, v := range versions {
		entry := historyEntry{operation.DescribeSerial(v), nil, v.Changed, v.Total}
		if !v.Unfinished() {
			finished := v.Finished.UTC()
			entry.Finished = &finished
		}
		doc.Serials = append(doc.Serials, entry)
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

func unlockCommand() *session.Command {
	return &session.Command{
		Name:    "unlock",
		Args:    "ID",
		Summary: "Removes a lock that a process has left behind which is gone.",
		Long: `
The message that the state is locked shows the ID. Make sure that the process which holds the lock does not run any
more: two at a time would damage the state.`,
		Example: "cairn state unlock 7c5b2b8e-58ab-4f10-ab1e-4b8e2a1a6d1f",
		MinArgs: 1, MaxArgs: 1,
		Flags: session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			if err := s.Stack().StateChanges().Unlock(ctx, args[0]); err != nil {
				return 0, err
			}
			s.Print("The lock was removed.\n")
			return cmdline.ExitOK, nil
		},
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"io"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/show/timeline"
)

// showTimeline draws a report of a run, the only argument.
func showTimeline(s *session.Session, args []string, format string) error {
	if format != "" || s.Options.JSON || len(args) != 1 {
		return failure.Error("Conflicting options",
			"With -timeline, the only argument is a report of \"cairn run\", and there is neither -format nor -json.")
	}
	path := args[0]
	report, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), timeline.MaxReport)
	if err != nil {
		return failure.Error("Unreadable report", "The report %s cannot be read: %s.", path, safefile.Reason(err))
	}
	run, err := timeline.Read(report)
	if err != nil {
		return failure.Error("Unreadable report", "The report %s cannot be shown: %s.", path, err)
	}
	_, err = io.WriteString(s.Streams.Out, run.SVG())
	return err
}

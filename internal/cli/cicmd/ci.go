// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cicmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/ci"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/forge"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// maxDocument is the greatest size of a file that is read here, in bytes.
const maxDocument = 64 << 20

// Command returns the command ci with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:    "ci",
		Summary: "Has the parts of the CI kit that decide, for its scripts.",
		Long: `
The action for GitHub and the component for GitLab call these. By themselves they send nothing and ask no server.`,
		Example:  "cairn ci scripts /tmp/cairn-ci",
		Commands: []*session.Command{scriptsCommand(), eventCommand(), allowedCommand(), findCommand(), bodyCommand()},
	}
}

func read(path string) ([]byte, error) {
	text, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxDocument)
	if err != nil {
		return nil, failure.Error("Unreadable file", "The file %s cannot be read: %s.", path, safefile.Reason(err))
	}
	return text, nil
}

// unusable is the error for a document that is no answer of an API.
func unusable(what string, err error) error {
	return failure.Error("Unusable document", "The document of %s is not as an API has it: %s.", what, failure.Reason(err))
}

func scriptsCommand() *session.Command {
	return &session.Command{
		Name:    "scripts",
		Args:    "DIR",
		Summary: "Writes the scripts of the CI kit of this version into a directory.",
		Example: "cairn ci scripts /tmp/cairn-ci\nsh /tmp/cairn-ci/cairn.sh plan",
		MinArgs: 1,
		MaxArgs: 1,
		Run: func(_ context.Context, _ *session.Session, args []string) (int, error) {
			err := os.MkdirAll(args[0], 0o755) //nolint:gosec // there is nothing secret in it
			names, listErr := fs.Glob(ci.Scripts, "*")
			for _, name := range names {
				if text, readErr := ci.Scripts.ReadFile(name); err == nil && readErr == nil {
					err = safefile.Replace(filepath.Join(args[0], name), text, 0o644)
				}
			}
			if err != nil || listErr != nil {
				return 0, failure.Error("Scripts not written", "The scripts cannot be written to %s: %s.", args[0], safefile.Reason(err))
			}
			return cmdline.ExitOK, nil
		},
	}
}

func eventCommand() *session.Command {
	var requests cmdline.File
	return &session.Command{
		Name:    "event",
		Summary: "Prints why this job runs, by the variables of its CI service.",
		Long: `
It prints lines of the form NAME=VALUE: the number of the pull or merge request; whether it was merged; whether a
comment asks for an apply, and the user whose permission decides then; and the commit.`,
		Example: "cairn ci event",
		Flags: func(f *session.Flags) {
			requests = ""
			f.Var(&requests, "requests", "`FILE` with the requests of the commit, as the API lists them, to find the one that was merged")
		},
		Run: func(_ context.Context, s *session.Session, _ []string) (int, error) {
			event, err := readEvent()
			if err == nil && requests != "" {
				event.Number, err = mergedBy(string(requests))
				event.Merged = event.Number != ""
			}
			if err != nil {
				return 0, err
			}
			_, err = fmt.Fprintf(s.Streams.Out, "number=%s\nmerged=%t\nasked=%t\nuser=%s\ncommit=%s\n",
				event.Number, event.Merged, event.Asked, event.User, event.Commit)
			return cmdline.ExitOK, err
		},
	}
}

// readEvent reads the event of the job that this is a part of.
func readEvent() (forge.Event, error) {
	payload, decide := os.Getenv("GITHUB_EVENT_PATH"), forge.GitHubEvent
	if os.Getenv("GITHUB_REPOSITORY") == "" {
		payload = os.Getenv("TRIGGER_PAYLOAD")
		decide = func(text []byte) (forge.Event, error) {
			return forge.GitLabEvent(os.Getenv("CI_MERGE_REQUEST_IID"), text)
		}
	}
	var text []byte
	if payload != "" {
		var err error
		if text, err = read(payload); err != nil {
			return forge.Event{}, err
		}
	}
	event, err := decide(text)
	if err != nil {
		return event, unusable("the event", err)
	}
	return event, nil
}

func mergedBy(path string) (string, error) {
	text, err := read(path)
	if err != nil {
		return "", err
	}
	number, err := forge.MergedBy(text)
	if err != nil {
		return "", unusable("the requests", err)
	}
	return number, nil
}

func allowedCommand() *session.Command {
	return &session.Command{
		Name:    "allowed",
		Args:    "FILE",
		Summary: "Ends with 0 if a user may write, by the document of the API about their permission, or else with 1.",
		Example: "cairn ci allowed permission.json",
		MinArgs: 1,
		MaxArgs: 1,
		Run: func(_ context.Context, _ *session.Session, args []string) (int, error) {
			text, err := read(args[0])
			if err != nil {
				return 0, err
			}
			allowed, err := forge.MayWrite(text)
			switch {
			case err != nil:
				return 0, unusable("the permission", err)
			case !allowed:
				return cmdline.ExitError, nil
			}
			return cmdline.ExitOK, nil
		},
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cicmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/forge"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// idFlag adds the option for the id of the comment.
func idFlag(f *session.Flags, id *string) {
	f.StringVar(id, "id", "cairn", "`ID` of the comment: a request has one for each")
}

func findCommand() *session.Command {
	var id string
	var user, main cmdline.File
	return &session.Command{
		Name:    "find",
		Args:    "[PAGE…]",
		Summary: "Finds our comment among those of a request, which pages of the API list.",
		Long: `
It prints lines of the form NAME=VALUE: the comment to keep, those to remove, which repeat it, and the run with the plans.`,
		Example: "cairn ci find -user=user.json page1.json page2.json",
		MaxArgs: 1000,
		Flags: func(f *session.Flags) {
			user, main = "", ""
			idFlag(f, &id)
			f.Var(&user, "user", "`FILE` with the user that we are, as the API has it")
			f.Var(&main, "main", "write the text about the plan, without a note, to `FILE`")
		},
		Run: func(_ context.Context, s *session.Session, pages []string) (int, error) {
			if user == "" {
				return 0, failure.Error("Missing required option", "Whose comments are ours? Give -user=FILE.")
			}
			ours, err := find(string(user), id, pages)
			if err != nil {
				return 0, err
			}
			if main != "" {
				if err := safefile.Replace(string(main), []byte(forge.MainOf(ours.Body)), 0o600); err != nil {
					return 0, failure.Error("Text not written", "The text cannot be written to %s: %s.", main, safefile.Reason(err))
				}
			}
			keep := ""
			if ours.Keep != 0 {
				keep = fmt.Sprint(ours.Keep)
			}
			_, err = fmt.Fprintf(s.Streams.Out, "keep=%s\nremove=%s\nplanned=%s\n", keep, strings.Trim(fmt.Sprint(ours.Remove), "[]"), ours.Run)
			return cmdline.ExitOK, err
		},
	}
}

func find(user, id string, pages []string) (forge.Ours, error) {
	text, err := read(user)
	if err != nil {
		return forge.Ours{}, err
	}
	author, err := forge.ReadUser(text)
	if err != nil {
		return forge.Ours{}, unusable("the user", err)
	}
	var all []forge.Comment
	for _, page := range pages {
		text, err := read(page)
		if err != nil {
			return forge.Ours{}, err
		}
		comments, err := forge.ReadComments(text)
		if err != nil {
			return forge.Ours{}, unusable("the comments", err)
		}
		all = append(all, comments...)
	}
	return forge.Find(all, author, id), nil
}

func bodyCommand() *session.Command {
	var id, run, title string
	var note cmdline.File
	return &session.Command{
		Name:    "body",
		Args:    "FILE",
		Summary: "Writes the document that makes or changes our comment, with the Markdown in a file.",
		Example: "cairn ci body -run=42 report.md\ncairn ci body -run=42 -title='Not applied' -note=errors.txt report.md",
		MinArgs: 1,
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			note = ""
			idFlag(f, &id)
			f.StringVar(&run, "run", "", "`RUN` that has the plans")
			f.StringVar(&title, "title", "", "`TITLE` of a note above the text")
			f.Var(&note, "note", "`FILE` with the text of the note, as it is")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			main, err := read(args[0])
			if err != nil {
				return 0, err
			}
			text := forge.Text{Title: title, Main: string(main)}
			if note != "" {
				explanation, err := read(string(note))
				if err != nil {
					return 0, err
				}
				text.Note = string(explanation)
			}
			document, err := forge.Document(text.Body(id, run))
			if err != nil {
				return 0, err
			}
			_, err = s.Streams.Out.Write(document)
			return cmdline.ExitOK, err
		},
	}
}

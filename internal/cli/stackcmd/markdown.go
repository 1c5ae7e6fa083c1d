// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/views/markdown"
)

// MarkdownFlags are the options of Markdown documents.
type MarkdownFlags struct {
	title, link, commit string
	limit               cmdline.Count
	attach              cmdline.List
}

// Add adds the options to those of a command.
func (m *MarkdownFlags) Add(f *session.Flags) {
	*m = MarkdownFlags{}
	f.StringVar(&m.title, "title", "", "in Markdown: the `TITLE`")
	f.StringVar(&m.link, "link", "", "in Markdown: a link to the `URL` of the run")
	f.StringVar(&m.commit, "commit", "", "in Markdown: the `COMMIT` of the plan")
	f.Var(&m.limit, "limit", "in Markdown: at most `N` characters (default: 65000)")
	f.Var(&m.attach, "attach", "in Markdown: the text in `FILE`, folded, such as the results of policies; may be repeated")
}

// maxAttached is the greatest size of an attached file: no document has room for more.
const maxAttached = 4 << 20

// Options returns what the options say, with a title where they have none.
func (m *MarkdownFlags) Options(title string) (markdown.Options, error) {
	options := markdown.Options{Title: cmp.Or(m.title, title), Link: m.link, Commit: m.commit, Limit: int(m.limit)}
	if m.link != "" && !markdown.IsLink(m.link) {
		return options, failure.Error("Invalid link",
			"The option -link needs a URL that begins with http:// or https://, and %q is none.", m.link)
	}
	if m.limit != 0 && m.limit < markdown.MinLimit {
		return options, failure.Error("Invalid limit", "The option -limit needs a number of characters of at least %d.", markdown.MinLimit)
	}
	if m.link != "" || m.commit != "" {
		options.Made = time.Now()
	}
	for _, path := range m.attach {
		text, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxAttached)
		if err != nil {
			return options, failure.Error("Unreadable file", "The file %s of the option -attach cannot be read: %s.", path, safefile.Reason(err))
		}
		options.Attached = append(options.Attached, markdown.Attachment{Name: filepath.Base(path), Text: string(text)})
	}
	return options, nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/licences"
	"github.com/cairnstacks/cairn/internal/operation"
)

// versionDocument is the output of "version -json".
type versionDocument struct {
	FormatVersion string            `json:"format_version"`
	Cairn         string            `json:"cairn_version"`
	Commit        string            `json:"commit,omitempty"`      // if it is known
	CommitDate    *time.Time        `json:"commit_date,omitempty"` // likewise
	Modified      bool              `json:"modified"`              // the files differed from those of the commit
	Platform      string            `json:"platform"`
	Engine        *document.Engine  `json:"engine"` // null without one
	EngineError   string            `json:"engine_error,omitempty"`
	Providers     map[string]string `json:"providers"`
	Engines       *versionEngines   `json:"engines,omitempty"` // with -v
}

// VersionCommand returns the command that shows versions.
func VersionCommand() *session.Command {
	var verbose, licenceTexts bool
	return &session.Command{
		Name:    "version",
		Summary: "Shows the versions of cairn, the engine and the providers.",
		Long: `
With -v also which engines there are, which of them are used here, and why: the one that nobody has to install, which is
called native; terraform and tofu; and the one that each module of the stack gets.`,
		Example: "cairn version\ncairn version -v\ncairn version -json",
		Flags: func(f *session.Flags) {
			f.BoolVar(&verbose, "v", false, "show the engines that there are, and which one does which module, and why")
			f.BoolVar(&licenceTexts, "licenses", false, "show the licence texts of cairn and of all that it is made of")
			session.EngineFlags(f)
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			if licenceTexts {
				return cmdline.ExitOK, licences.Write(s.Streams.Out)
			}
			s.ReportDocuments()
			doc := newVersionDocument(buildinfo.Read())
			versions, warnings, err := s.Stack().Versions(ctx, verbose)
			missing, isMissing := errors.AsType[*operation.NoEngineError](err)
			switch {
			case isMissing:
				doc.EngineError = cmp.Or(operation.Diagnostics(missing.Err)[0].Detail, missing.Err.Error())
			case err != nil:
				return 0, err
			default:
				info := document.NewEngine(versions.Engine, s.Stack().Engines().Reason())
				doc.Engine = &info
				for provider, locked := range versions.Providers {
					doc.Providers[provider.String()] = locked
				}
			}
			if versions.Choices != nil {
				doc.Engines = newVersionEngines(versions.Choices)
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, doc, true)
			}
			if err := s.Report(warnings); err != nil {
				return 0, err
			}
			s.Print("cairn %s on %s\n%s", doc.Cairn, doc.Platform, doc.origin())
			if isMissing {
				s.Print("no engine: %s\n", doc.EngineError)
				return cmdline.ExitOK, showVersionEngines(s, doc.Engines)
			}
			s.Print("%s %s\n", doc.Engine.Name, doc.Engine.Version)
			for _, provider := range slices.Sorted(maps.Keys(doc.Providers)) {
				s.Print("provider %s %s\n", provider, doc.Providers[provider])
			}
			return cmdline.ExitOK, showVersionEngines(s, doc.Engines)
		},
	}
}

func newVersionDocument(build buildinfo.Info) versionDocument {
	doc := versionDocument{
		FormatVersion: document.FormatVersion,
		Cairn:         build.Version,
		Commit:        build.Commit,
		Modified:      build.Modified,
		Platform:      runtime.GOOS + "_" + runtime.GOARCH,
		Providers:     map[string]string{},
	}
	if !build.Date.IsZero() {
		doc.CommitDate = &build.Date
	}
	return doc
}

// origin is the line about the commit, or empty if that is not known.
func (d *versionDocument) origin() string {
	if d.Commit == "" {
		return ""
	}
	line := "commit " + d.Commit
	if d.CommitDate != nil {
		line += " of " + d.CommitDate.Format("2006-01-02 15:04:05 MST")
	}
	if d.Modified {
		line += ", with changes"
	}
	return line + "\n"
}

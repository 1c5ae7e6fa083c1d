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

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

// versionDocument is what "version -json" writes.
type versionDocument struct {
	FormatVersion string            `json:"format_version"`
	Cairn         string            `json:"cairn_version"`
	Platform      string            `json:"platform"`
	Engine        *jsonview.Engine  `json:"engine"` // null without one
	EngineError   string            `json:"engine_error,omitempty"`
	Providers     map[string]string `json:"providers"`
}

// VersionCommand returns the command that shows versions.
func VersionCommand() *session.Command {
	return &session.Command{
		Name:    "version",
		Summary: "Shows the versions of cairn, the engine and the providers.",
		Example: "cairn version\ncairn version -json",
		Flags: func(f *session.Flags) {
			session.EngineFlags(f)
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			document := versionDocument{
				FormatVersion: jsonview.FormatVersion,
				Cairn:         session.Version(),
				Platform:      runtime.GOOS + "_" + runtime.GOARCH,
				Providers:     map[string]string{},
			}
			versions, warnings, err := s.Stack().Versions(ctx)
			missing, isMissing := errors.AsType[*operation.NoEngineError](err)
			switch {
			case isMissing:
				document.EngineError = cmp.Or(operation.Diagnostics(missing.Err)[0].Detail, missing.Err.Error())
			case err != nil:
				return 0, err
			default:
				info := jsonview.Engine(versions.Engine)
				document.Engine = &info
				for provider, locked := range versions.Providers {
					document.Providers[provider.String()] = locked
				}
			}
			if s.Options.JSON {
				return cmdline.ExitOK, jsonview.WriteDocument(s.Streams.Out, document, true)
			}
			if err := s.Report(warnings); err != nil {
				return 0, err
			}
			s.Print("cairn %s on %s\n", document.Cairn, document.Platform)
			if isMissing {
				s.Print("no engine: %s\n", document.EngineError)
				return cmdline.ExitOK, nil
			}
			s.Print("%s %s\n", document.Engine.Name, document.Engine.Version)
			for _, provider := range slices.Sorted(maps.Keys(document.Providers)) {
				s.Print("provider %s %s\n", provider, document.Providers[provider])
			}
			return cmdline.ExitOK, nil
		},
	}
}

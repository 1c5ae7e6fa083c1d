// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"context"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
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

func versionCommand() *session.Command {
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
			opened, forget, engineErr := openForVersion(ctx, s)
			if engineErr != nil {
				document.EngineError = cmp.Or(operation.Diagnostics(engineErr)[0].Detail, engineErr.Error())
			} else {
				defer forget()
				info := jsonview.Engine(opened.Info())
				document.Engine = &info
				locks, err := s.Stack().Locks(ctx)
				if err != nil {
					return 0, failure.Error("Unreadable provider lock file", "%s.", failure.Capitalize(failure.Reason(err)))
				}
				for provider, locked := range locks {
					document.Providers[provider.String()] = locked
				}
			}
			if s.Options.JSON {
				return cmdline.ExitOK, jsonview.WriteDocument(s.Streams.Out, document, true)
			}
			if err := s.Report(s.Stack().EngineWarnings()); err != nil {
				return 0, err
			}
			s.Print("cairn %s on %s\n", document.Cairn, document.Platform)
			if engineErr != nil {
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

// openForVersion opens the engine without leaving a working directory where there is none yet. The caller must call
// forget after use.
func openForVersion(ctx context.Context, s *session.Session) (_ engine.Session, forget func(), err error) {
	forget = func() {}
	if !s.Stack().HasWorkDir() {
		temporary, err := os.MkdirTemp("", "cairn-version-")
		if err != nil {
			return nil, nil, err
		}
		s.WorkDir = temporary
		s.Opened = nil
		forget = func() {
			_ = os.RemoveAll(temporary) //nolint:errcheck // it is among temporary files, which the system removes
		}
	}
	opened, err := s.Stack().Session(ctx)
	if err != nil {
		forget()
	}
	return opened, forget, err
}

func sortedProviders(locks map[stackaddrs.Provider]string) []stackaddrs.Provider {
	return slices.SortedFunc(maps.Keys(locks), stackaddrs.Provider.Compare)
}

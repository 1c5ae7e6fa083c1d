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
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackaddrs"
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

func versionCommand() *command {
	return &command{
		Name:    "version",
		Summary: "Shows the versions of cairn, the engine and the providers.",
		Example: "cairn version\ncairn version -json",
		Flags: func(f *flagSet) {
			engineFlags(f)
			jsonFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session, _ []string) (int, error) {
			s.reportDocuments()
			document := versionDocument{
				FormatVersion: jsonview.FormatVersion,
				Cairn:         version(),
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
				locks, err := opened.Locks()
				if err != nil {
					return 0, failure.Error("Unreadable provider lock file", "%s.", failure.Capitalize(failure.Reason(err)))
				}
				for provider, locked := range locks {
					document.Providers[provider.String()] = locked
				}
			}
			if s.options.json {
				return cmdline.ExitOK, jsonview.WriteDocument(s.streams.Out, document, true)
			}
			if err := s.report(s.stack().EngineWarnings()); err != nil {
				return 0, err
			}
			s.stdout("cairn %s on %s\n", document.Cairn, document.Platform)
			if engineErr != nil {
				s.stdout("no engine: %s\n", document.EngineError)
				return cmdline.ExitOK, nil
			}
			s.stdout("%s %s\n", document.Engine.Name, document.Engine.Version)
			for _, provider := range slices.Sorted(maps.Keys(document.Providers)) {
				s.stdout("provider %s %s\n", provider, document.Providers[provider])
			}
			return cmdline.ExitOK, nil
		},
	}
}

// openForVersion opens the engine without leaving a working directory where there is none yet. The caller must call
// forget after use.
func openForVersion(ctx context.Context, s *session) (_ operation.Engine, forget func(), err error) {
	forget = func() {}
	if !s.stack().HasWorkDir() {
		temporary, err := os.MkdirTemp("", "cairn-version-")
		if err != nil {
			return nil, nil, err
		}
		s.workDir = temporary
		s.opened = nil
		forget = func() {
			_ = os.RemoveAll(temporary) //nolint:errcheck // it is among temporary files, which the system removes
		}
	}
	opened, err := s.stack().Engine(ctx)
	if err != nil {
		forget()
	}
	return opened, forget, err
}

func sortedProviders(locks map[stackaddrs.Provider]string) []stackaddrs.Provider {
	return slices.SortedFunc(maps.Keys(locks), stackaddrs.Provider.Compare)
}

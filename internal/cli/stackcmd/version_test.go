// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/buildinfo"
)

// The line about the commit says as much as the build knows.
func TestVersionOrigin(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 17, 2, 0, time.UTC)
	for want, build := range map[string]buildinfo.Info{
		"":                  {Version: "v0.9.0"},
		"commit 4d1cd30f\n": {Commit: "4d1cd30f"},
		"commit 4d1cd30f of 2026-11-30 09:17:02 UTC\n":               {Commit: "4d1cd30f", Date: at},
		"commit 4d1cd30f of 2026-11-30 09:17:02 UTC, with changes\n": {Commit: "4d1cd30f", Date: at, Modified: true},
	} {
		doc := newVersionDocument(build)
		if got := doc.origin(); got != want {
			t.Errorf("origin of %+v is %q, want %q", build, got, want)
		}
	}
}

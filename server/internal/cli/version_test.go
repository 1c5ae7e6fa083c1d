// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"testing"

	"go.temporal.io/server/common/headers"
)

func TestVersionOfRelease(t *testing.T) {
	t.Cleanup(func() { version, commit, date, modified = "", "", "", "" })
	const line = "commit 4d1cd30f of 2026-11-30T09:17:02Z"
	for _, test := range []struct{ modified, want string }{{"false", line}, {"true", line + ", with changes"}} {
		version, commit, date, modified = "v0.9.0", "4d1cd30f", "2026-11-30T09:17:02Z", test.modified
		var out bytes.Buffer
		want := "cairn-server v0.9.0 (Temporal " + headers.ServerVersion + ")\n" + test.want + "\n"
		if code := Run(t.Context(), []string{"version"}, &out, &out); code != 0 || out.String() != want {
			t.Errorf("version of a release with modified=%s: got code %d and %q, want %q", test.modified, code, &out, want)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/release/releasetest"
)

// scriptReleases are those that scripts find on their mirror.
var scriptReleases = map[string][]string{
	"tofu":      {"1.9.0", "1.11.0", "1.12.0", "1.12.6", "1.13.0-beta1"},
	"terraform": {"1.5.7", "1.10.0", "1.11.4"},
}

// releasesCommand implements the command releases of scripts: it starts a mirror with releases at
// $MIRROR, which are signed by the key in the file release.asc. Of tofu, 1.11.0 has an altered
// archive, the signature of 1.12.0 is by another key, and downloads of 1.13.0-beta1 begin and never
// end; when one has begun, there is a file download.reached.
func releasesCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		server := releasetest.Start(t)
		for program, versions := range scriptReleases {
			for _, v := range versions {
				server.Add(program, v, releasetest.Program(program, v))
			}
		}
		altered := releasetest.ArchiveName("tofu", "1.11.0")
		content := server.File(altered)
		content[len(content)/2] ^= 1
		server.Set(altered, content)
		server.Forge("tofu", "1.12.0")
		reached := ts.MkAbs("download.reached")
		server.Hang(releasetest.ArchiveName("tofu", "1.13.0-beta1"), func() {
			if err := os.WriteFile(reached, nil, 0o600); err != nil {
				t.Error(err)
			}
		})
		ts.Setenv("MIRROR", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs("release.asc"), []byte(server.Key), 0o600))
	}
}

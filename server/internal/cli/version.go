// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"fmt"
	"runtime/debug"

	"go.temporal.io/server/common/headers"
)

// The origin of a release, which its build sets with -ldflags=-X; see packaging/files.sh. Package
// buildinfo of cairn has the same variables, but in another module: requiring that would bind each
// version of this one to an older version of cairn.
var (
	version  string // with the "v" of its tag
	commit   string
	date     string // of the commit, by RFC 3339
	modified string // "true" or "false"
)

// versions describes the origin of this program. What is no release has the version of its module,
// which names the commit where the go command knows it.
func versions() string {
	if version != "" {
		text := fmt.Sprintf("cairn-server %s (Temporal %s)\ncommit %s of %s", version, headers.ServerVersion, commit, date)
		if modified == "true" {
			text += ", with changes"
		}
		return text
	}
	recorded := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		recorded = info.Main.Version
	}
	return fmt.Sprintf("cairn-server %s (Temporal %s)", recorded, headers.ServerVersion)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package ci holds the shell scripts of the CI kit, which the action of GitHub and the component of
// GitLab share. They run cairn and send requests; the program decides and makes texts.
package ci

import "embed"

// Scripts are the scripts, by their names.
//
//go:embed *.sh
var Scripts embed.FS

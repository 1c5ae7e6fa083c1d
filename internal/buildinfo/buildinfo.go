// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package buildinfo has the origin of this program.
//
// A release sets the variables below by the linker, because its archives are built once and then
// tell everybody the same. In any other build the go command has recorded what it knows: the
// module's version for "go install", and the commit where it builds in a clone.
package buildinfo

import (
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// Set by the build of a release, with -ldflags=-X; see packaging/files.sh.
var (
	version  string // with the "v" of its tag
	commit   string
	date     string // of the commit, by RFC 3339
	modified string // "true" or "false"
)

// Info describes the origin of a program.
type Info struct {
	Version string // as the module's, "v0.9.0"; "(devel)" for one that nobody has named

	Commit   string    // 40 hexadecimal digits, or the first 12 of them; empty if it is not known
	Date     time.Time // of the commit, in UTC; zero if it is not known
	Modified bool      // the files differed from those of the commit
}

// Read returns the origin of this program.
func Read() Info {
	if version != "" {
		return Info{Version: version, Commit: commit, Date: parseDate(date), Modified: modified == "true"}
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: unnamed}
	}
	return recorded(build)
}

// Protocol is equal for programs that understand what they send to each other.
func (i Info) Protocol() string { return strings.TrimSpace(i.Version + " " + i.Commit) }

const unnamed = "(devel)"

// recorded returns the records of the go command.
func recorded(build *debug.BuildInfo) Info {
	info := Info{Version: build.Main.Version}
	if info.Version == "" {
		info.Version = unnamed
	}
	// "go install" of a commit has no repository, only a version that is made from the commit.
	plain, dirty := strings.CutSuffix(info.Version, "+dirty")
	revision, err := module.PseudoVersionRev(plain)
	at, timeErr := module.PseudoVersionTime(plain)
	if err == nil && timeErr == nil {
		info.Commit, info.Date = revision, at
	}
	info.Modified = dirty
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Commit = setting.Value
		case "vcs.time":
			info.Date = parseDate(setting.Value)
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	return info
}

// parseDate returns the zero time for a text that is no date.
func parseDate(text string) time.Time {
	date, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return date.UTC()
}

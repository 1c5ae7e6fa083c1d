// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package buildinfo

import (
	"runtime/debug"
	"testing"
	"time"
)

const revision = "4d1cd30f0000000000000000000000000000beef"

func TestRecorded(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 17, 2, 0, time.UTC)
	settings := []debug.BuildSetting{
		{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: revision},
		{Key: "vcs.time", Value: "2026-11-30T10:17:02+01:00"},
	}
	with := func(modified string) []debug.BuildSetting {
		return append(settings[:3:3], debug.BuildSetting{Key: "vcs.modified", Value: modified})
	}
	for name, test := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     Info
	}{
		"nothing recorded": {"", nil, Info{Version: "(devel)"}},
		"no clone":         {"(devel)", nil, Info{Version: "(devel)"}},
		"install of a tag": {"v0.9.0", nil, Info{Version: "v0.9.0"}},
		"install of main": {
			"v0.9.1-0.20261130091702-4d1cd30f0000", nil,
			Info{Version: "v0.9.1-0.20261130091702-4d1cd30f0000", Commit: "4d1cd30f0000", Date: at},
		},
		"clone":             {"v0.9.0", with("false"), Info{Version: "v0.9.0", Commit: revision, Date: at}},
		"clone, with edits": {"v0.9.0+dirty", with("true"), Info{Version: "v0.9.0+dirty", Commit: revision, Date: at, Modified: true}},
		"edits of no tag": {
			"v0.0.0-20261130091702-4d1cd30f0000+dirty", nil,
			Info{Version: "v0.0.0-20261130091702-4d1cd30f0000+dirty", Commit: "4d1cd30f0000", Date: at, Modified: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := recorded(&debug.BuildInfo{Main: debug.Module{Version: test.version}, Settings: test.settings})
			if got != test.want {
				t.Errorf("recorded(%q, %v) = %+v, want %+v", test.version, test.settings, got, test.want)
			}
		})
	}
}

// The variables of a release say all: nothing of the machine that builds it is in the answer.
func TestRelease(t *testing.T) {
	t.Cleanup(func() { version, commit, date, modified = "", "", "", "" })
	version, commit, date, modified = "v0.9.0", revision, "2026-11-30T09:17:02Z", "false"
	want := Info{Version: "v0.9.0", Commit: revision, Date: time.Date(2026, 11, 30, 9, 17, 2, 0, time.UTC)}
	if got := Read(); got != want {
		t.Errorf("Read() = %+v, want %+v", got, want)
	}
	modified = "true"
	if !Read().Modified {
		t.Error("Read().Modified is false of a release from a modified tree")
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Events that a power failure has damaged are no silence of the engine.
func TestLostEvents(t *testing.T) {
	const event = `{"@level":"info","type":"version"}` + "\n"
	for name, test := range map[string]struct {
		events string
		begun  bool // may have
		want   string
	}{
		"whole":                 {event, true, ""},
		"nothing was said":      {"", false, ""},
		"emptied":               {"", true, "has an empty " + EventsFile},
		"zeroed":                {strings.Repeat("\x00", 100), false, "has zeros in its " + EventsFile},
		"zeros at the end":      {event + "\x00\x00", false, "has zeros in its " + EventsFile},
		"a line that is no end": {event + `{"@lev`, true, ""},
	} {
		run := Run{runDir: t.TempDir()}
		err := os.WriteFile(filepath.Join(run.runDir, EventsFile), []byte(test.events), 0o600)
		got, lostErr := run.Lost(test.begun)
		if err := errors.Join(err, lostErr); err != nil || got != test.want {
			t.Errorf("%s: got %q and %v, want %q", name, got, err, test.want)
		}
	}
	if got, err := (Run{runDir: t.TempDir()}).Lost(false); err != nil || got == "" {
		t.Errorf("without events: got %q and %v", got, err)
	}
}

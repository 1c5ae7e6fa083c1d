// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package command_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
)

// An endless line is not shown as a whole, wherever the engine prints it.
func TestEndlessLineIsShortened(t *testing.T) {
	endless := "first " + strings.Repeat("é", 100_000) + " last"
	for name, got := range map[string]string{
		"all":            command.Terse(command.Unframe("╷\n│ " + endless + "\n╵\n")),
		"the last lines": command.LastLines(endless, 20),
	} {
		if len(got) > 6000 || !strings.Contains(got, "first é") || !strings.Contains(got, "é last") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, want the beginning and the end", name, len(got))
		}
	}
}

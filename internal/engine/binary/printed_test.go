// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// An endless line is not shown as a whole, wherever the engine prints it.
func TestEndlessLineIsShortened(t *testing.T) {
	endless := "first " + strings.Repeat("é", 100_000) + " last"
	e := &Session{}
	for name, got := range map[string]string{
		"init":  e.initFailed(nil, []byte(endless), io.EOF, &engine.PrepareRequest{})[0].Detail,
		"error": e.initFailed(nil, []byte("Error: provider "+endless), io.EOF, &engine.PrepareRequest{})[0].Detail,
		"plan":  command.LastLines(endless, 20),
	} {
		if len(got) > 6000 || !strings.Contains(got, "first é") || !strings.Contains(got, "é last") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, want the beginning and the end", name, len(got))
		}
	}
}

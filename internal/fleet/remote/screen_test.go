// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/wire"
)

// Texts are said soon, also if no other one follows, in their order, and none twice.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []report
		screen := newScreen(&request{}, func(content []byte) {
			var r report
			if err := wire.Decode(content, &r); err != nil {
				t.Error(err)
			}
			said = append(said, r)
		})
		write := func(to io.Writer, text string) {
			if _, err := io.WriteString(to, text); err != nil {
				t.Error(err)
			}
		}
		write(screen.Out, "a")
		write(screen.Out, "b")
		write(screen.Err, "waiting for a lock")
		<-time.After(2 * together)
		write(screen.Out, "c")
		screen.flush()
		<-time.After(2 * together)
		want := []report{{Out: []byte("ab")}, {Err: []byte("waiting for a lock")}, {Out: []byte("c")}}
		if len(said) != len(want) {
			t.Fatalf("said: %q, want %q", said, want)
		}
		for i, got := range said {
			if string(got.Out) != string(want[i].Out) || string(got.Err) != string(want[i].Err) {
				t.Errorf("report %d: got %q, want %q", i, got, want[i])
			}
		}
	})
}

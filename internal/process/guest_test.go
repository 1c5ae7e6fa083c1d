// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package process

import (
	"errors"
	"os"
	"testing"
)

// guest counts how often it is killed.
type guest struct{ killed int }

func (g *guest) Kill() error {
	g.killed++
	return nil
}

// A guest, which is followed elsewhere, is killed with the rest, neither before it was started nor
// after it has left.
func TestGuests(t *testing.T) {
	var set Set
	var stays, left guest
	enter := func(g *guest) (func(), error) { return set.Enter(func() (Guest, error) { return g, nil }) }
	if _, err := enter(&stays); err != nil {
		t.Fatal(err)
	}
	leave, err := enter(&left)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	refused := errors.New("cannot be started")
	if _, err := set.Enter(func() (Guest, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("Enter() = %v, want the error of starting", err)
	}
	set.Stop(os.Interrupt, false)
	if stays.killed != 0 {
		t.Error("Stop has killed it")
	}
	if _, err := set.Enter(func() (Guest, error) {
		t.Error("started, though nothing is to be started any more")
		return &guest{}, nil
	}); !errors.Is(err, ErrStopped) {
		t.Errorf("Enter() = %v after Stop, want ErrStopped", err)
	}
	set.Kill()
	if stays.killed != 1 || left.killed != 0 {
		t.Errorf("killed %d and %d times, want once the one that stays", stays.killed, left.killed)
	}
}

func TestExitErrorBySignal(t *testing.T) {
	if text := NewExitError(-1, "signal: killed").Error(); text != "ended by signal: killed" {
		t.Errorf("Error() = %q", text)
	}
}

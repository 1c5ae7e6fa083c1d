// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// A binary is asked once, as long as it stays as it is. Errors are not remembered.
func TestKnown(t *testing.T) {
	var known Known
	var asked atomic.Int64
	ask := func() (engine.Info, error) {
		asked.Add(1)
		return engine.Info{Name: Tofu}, nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if info, err := known.ask(t.Context(), binaryFile{"a", 1, 1}, ask); err != nil || info.Name != Tofu {
				t.Errorf("ask = %v, %v", info, err)
			}
		})
	}
	wg.Wait()
	if got := asked.Load(); got != 1 {
		t.Errorf("one binary was asked %d times", got)
	}
	for _, other := range []binaryFile{{"a", 2, 1}, {"a", 1, 2}, {"b", 1, 1}} {
		if _, err := known.ask(t.Context(), other, ask); err != nil {
			t.Error(err)
		}
	}
	if got := asked.Load(); got != 4 {
		t.Errorf("four binaries were asked %d times", got)
	}
	broken := errors.New("broken")
	fails := func() (engine.Info, error) { return engine.Info{}, broken }
	if _, err := known.ask(t.Context(), binaryFile{"c", 1, 1}, fails); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if _, err := known.ask(t.Context(), binaryFile{"c", 1, 1}, ask); err != nil {
		t.Errorf("the error is remembered: %v", err)
	}
}

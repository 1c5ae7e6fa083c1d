// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// progressTracker knows which components are being applied.
type progressTracker struct {
	mu struct {
		sync.Mutex
		running map[stackaddrs.AbsComponentInstance]bool
		begun   bool // any ever was
	}
}

func newProgressTracker() *progressTracker {
	t := &progressTracker{}
	t.mu.running = map[stackaddrs.AbsComponentInstance]bool{}
	return t
}

// track returns hooks that keep the tracker up to date and then call others.
func (t *progressTracker) track(next hooks.Hooks) hooks.Hooks {
	tracked := next
	tracked.ComponentStatus = func(component stackaddrs.AbsComponentInstance, status hooks.Status) {
		t.set(component, status == hooks.Applying)
		if next.ComponentStatus != nil {
			next.ComponentStatus(component, status)
		}
	}
	return tracked
}

func (t *progressTracker) set(component stackaddrs.AbsComponentInstance, running bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if running {
		t.mu.running[component], t.mu.begun = true, true
	} else {
		delete(t.mu.running, component)
	}
}

// Begun reports whether the apply of any component was begun.
func (t *progressTracker) Begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.begun
}

// InFlight describes the apply that is going on.
func (t *progressTracker) InFlight() session.InFlight {
	return session.InFlight{Begun: t.Begun, Lost: t.Lost}
}

// Lost describes the loss if the program ended at once.
func (t *progressTracker) Lost() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mu.running) == 0 {
		return "No component is being applied, so nothing will be lost."
	}
	var names []string
	for component := range t.mu.running {
		names = append(names, component.String())
	}
	slices.Sort(names)
	return fmt.Sprintf("These components are still being applied: %s.\n"+
		"Results that they have not reported yet will be missing from the state: objects may exist that cairn doesn't know of.\n"+
		"The next command recovers the reported results.", strings.Join(names, ", "))
}

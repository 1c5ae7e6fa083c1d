// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"sync"
)

// Group starts tasks that are responsible for no promises at first, and waits for all of them to
// end.
//
// The zero value is ready for use. A Group must not be copied after first use.
type Group struct {
	running sync.WaitGroup
}

// Go starts f as a task, like [AsyncTask].
//
// It may be called from a task of the group, which then counts until f does, but otherwise not
// after Wait.
func (g *Group) Go(ctx context.Context, f func(ctx context.Context)) {
	parent := mustTask(ctx, "Group.Go")
	t := &task{Context: withoutTask(ctx), main: parent.main}
	g.running.Go(func() {
		t.run(func() { f(t) })
	})
}

// Wait blocks until all tasks of the group have ended, however that came about. A panic in one of
// them has been handled then; an unhandled one crashes the program, and Wait does not return (rule
// P10).
//
// The detector does not see who waits here: the caller must be responsible for no promise (rule
// P4).
func (g *Group) Wait() { g.running.Wait() }

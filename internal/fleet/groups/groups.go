// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package groups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Group is a number of members to be worked on together.
type Group struct {
	Name      string
	Members   []string // each in one group only
	Eager     bool     // rule G2
	Tolerance int      // rule G3
	Alone     bool     // rule G7: it is the group of a deployment that names none
}

// Options are the options of the work on groups.
type Options struct {
	PlanOnly bool
	Destroy  bool // the plans destroy
	Parallel int  // how many members are worked on at the same time; less than 1 stands for 1
	Rounds   int  // rule G6; less than 1 stands for 1

	// Open returns the driver of a member. It is called once for each.
	Open func(member string) driver.Driver

	// Approve decides whether the plan of a member is applied, and returns for the history by whom it
	// is approved. One question is asked at a time, for which show shows the plan once more.
	//
	// Errors: [ErrRefused]; [ErrWaiting] if it is decided later; others count as a failure of the
	// member.
	Approve func(ctx context.Context, member string, plan driver.Plan, show func() error) (by string, err error)

	// Ended, if there is one, is called with the end of each member that was begun. It is called by
	// several goroutines.
	Ended func(End)
}

// The decisions about plans that are not to be applied now.
var (
	ErrRefused = errors.New("not approved")
	ErrWaiting = errors.New("waits for approval")
)

// State is how the work on a member ended.
type State string

// The states, in the order in which they are counted.
const (
	Applied   State = "applied"
	Destroyed State = "destroyed"
	NoChanges State = "no changes"
	Planned   State = "planned"
	InPart    State = "in part" // some rounds were applied, and the next one was not approved
	Waiting   State = "waiting" // for approval
	Refused   State = "not approved"
	Failed    State = "failed"
	NotBegun  State = "not begun"
)

// States are all of them.
var States = []State{Applied, Destroyed, NoChanges, Planned, InPart, Waiting, Refused, Failed, NotBegun}

// End is how the work on a member ended.
type End struct {
	Group, Member string
	State         State
	Detail        string // why, as far as the state does not say it
	Err           error  // of a member that failed

	// Counts are the changes of its plan, or those of the plans that were applied. Nil if there are
	// none or if they are not known.
	Counts *stackplan.Counts

	Started, Ended time.Time // zero if it was not begun
}

// work is the work on all groups.
type work struct {
	Options
	asking sync.Mutex // held while somebody is asked
}

// group is one that is worked on.
type group struct {
	*work
	Group
	members []*member

	mu struct {
		sync.Mutex
		failed int
	}
}

// member is one that is worked on. It belongs to the goroutine that works on it.
type member struct {
	name   string
	driver driver.Driver
	plan   driver.Plan
	by     string // its approver
	end    End
}

// Run does the work and returns the ends of all members, in the order of groups and members.
//
// Once ctx ends nothing more is begun. Run returns when all that was begun has ended.
func Run(ctx context.Context, all []Group, options Options) []End {
	w := &work{Options: options}
	begun := make([]*group, len(all))
	for i, declared := range all {
		g := &group{work: w, Group: declared}
		for _, name := range declared.Members {
			g.members = append(g.members, &member{name: name, end: End{Group: declared.Name, Member: name, State: NotBegun}})
		}
		begun[i] = g
	}
	if options.PlanOnly {
		planAll(ctx, begun)
	} else {
		applyAll(ctx, begun)
	}
	var ends []End
	for _, g := range begun {
		for _, m := range g.members {
			ends = append(ends, m.end)
		}
	}
	return ends
}

// planAll plans the members of all groups (rule G5).
func planAll(ctx context.Context, all []*group) {
	type item struct {
		*group
		*member
	}
	var items []item
	for _, g := range all {
		for _, m := range g.members {
			items = append(items, item{g, m})
		}
	}
	if len(items) == 0 {
		return
	}
	each(items, all[0].Parallel, func(i item) {
		if i.mayBegin(ctx, i.member) {
			i.group.planMember(ctx, i.member)
			i.report(i.member)
		}
	})
}

// applyAll applies group by group (rule G4), and those beside each other that are alone together
// (rule G7).
func applyAll(ctx context.Context, all []*group) {
	for len(all) > 0 {
		together := 1
		for all[0].Alone && together < len(all) && all[together].Alone {
			together++
		}
		held := applyBeside(ctx, all[:together])
		if all = all[together:]; held != "" {
			for _, later := range all {
				later.leave(held)
			}
			return
		}
	}
}

// applyBeside applies groups that do not wait for each other, as many at the same time as the
// caller allows, and returns the reason why others are not begun.
func applyBeside(ctx context.Context, all []*group) string {
	var mu sync.Mutex
	held := "" // guarded by mu
	each(all, all[0].Parallel, func(g *group) {
		mu.Lock()
		by := held
		mu.Unlock()
		switch {
		case by != "":
			g.leave(by)
			return
		case g.Eager:
			g.applyEagerly(ctx)
		default:
			g.applyInTurn(ctx)
		}
		if why := g.holds(); why != "" {
			mu.Lock()
			defer mu.Unlock()
			held = cmp.Or(held, fmt.Sprintf("since %s the group %s", why, g.Name))
		}
	})
	return held
}

// leave says why a group is not begun.
func (g *group) leave(why string) {
	for _, m := range g.members {
		m.end.Detail = why
	}
}

// holds returns in words the reason why later groups are not begun; "" if there is none.
func (g *group) holds() string {
	if g.exceeded() {
		return "too many deployments failed in"
	}
	for _, m := range g.members {
		switch m.end.State {
		case Waiting, Refused, InPart, Planned:
			return "not everything was approved in"
		case NotBegun:
			return "not everything was begun in"
		}
	}
	return ""
}

func (g *group) applyEagerly(ctx context.Context) {
	each(g.members, g.Parallel, func(m *member) {
		if !g.mayBegin(ctx, m) {
			return
		}
		if g.planMember(ctx, m); m.end.State != Planned {
			g.report(m)
		}
	})
	places := make(chan struct{}, max(g.Parallel, 1))
	var running sync.WaitGroup
	for _, m := range g.members {
		if m.end.State != Planned {
			continue // it has ended, or was not begun
		}
		places <- struct{}{}
		if !g.mayBegin(ctx, m) {
			m.end.State = NotBegun
			<-places
			continue
		}
		if !g.approved(ctx, m) {
			<-places
			g.report(m)
			continue
		}
		running.Go(func() {
			defer func() { <-places }()
			g.applyRounds(ctx, m)
			g.report(m)
		})
	}
	running.Wait()
}

func (g *group) applyInTurn(ctx context.Context) {
	for _, m := range g.members {
		if !g.mayBegin(ctx, m) {
			continue
		}
		if g.planMember(ctx, m); m.end.State == Planned && g.approved(ctx, m) {
			g.applyRounds(ctx, m)
		}
		g.report(m)
	}
}

// each does something for items, in their order, several at the same time.
func each[I any](items []I, parallel int, do func(I)) {
	next := make(chan I)
	var workers sync.WaitGroup
	for range min(max(parallel, 1), len(items)) {
		workers.Go(func() {
			for item := range next {
				do(item)
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	workers.Wait()
}

// mayBegin reports whether the work on a member may be begun, or go on with its apply.
func (g *group) mayBegin(ctx context.Context, m *member) bool {
	switch {
	case ctx.Err() != nil:
		m.end.Detail = "interrupted"
	case g.exceeded():
		m.end.Detail = fmt.Sprintf("since too many deployments failed in the group %s", g.Name)
	default:
		return true
	}
	return false
}

func (g *group) exceeded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.failed > g.Tolerance
}

// planMember plans a member for the first time.
func (g *group) planMember(ctx context.Context, m *member) {
	m.end.Started = time.Now()
	m.driver = g.Open(m.name)
	plan, err := m.driver.Plan(ctx, driver.PlanRequest{Destroy: g.Destroy, NotToKeep: g.PlanOnly})
	m.plan = plan
	if publisher, ok := m.driver.(driver.Publisher); ok && err == nil && !plan.Changes && !g.PlanOnly {
		err = publisher.Publish(ctx)
	}
	lost, isLost := errors.AsType[*driver.LostOutputError](err)
	switch {
	case errors.Is(err, process.ErrStopped):
		m.end.Detail = "interrupted"
	case isLost:
		g.failed(m, lost)
	case err != nil:
		g.failed(m, err)
	case !plan.Changes:
		m.end.State = NoChanges
	default:
		m.end.State, m.end.Counts = Planned, plan.Counts
	}
}

func (g *group) failed(m *member, err error) {
	m.end.State, m.end.Err, m.end.Detail = Failed, err, err.Error()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.failed++
}

func (g *group) report(m *member) {
	m.end.Ended, m.driver = time.Now(), nil
	if g.Ended != nil && m.end.State != NotBegun {
		g.Ended(m.end)
	}
}

// approved asks whether the plan of a member is applied, and says in its end why it is not.
func (g *group) approved(ctx context.Context, m *member) bool {
	g.asking.Lock()
	defer g.asking.Unlock()
	by, err := g.Approve(ctx, m.name, m.plan, func() error { return m.driver.Show(ctx) })
	partly := m.end.State == InPart
	switch {
	case err == nil:
		m.by = by
		return true
	case partly && (errors.Is(err, ErrRefused) || errors.Is(err, ErrWaiting)):
		m.end.Detail = "the next round " + map[bool]string{true: "waits for approval", false: "was not approved"}[errors.Is(err, ErrWaiting)]
	case errors.Is(err, ErrRefused):
		m.end.State = Refused
	case errors.Is(err, ErrWaiting):
		m.end.State = Waiting
	default:
		g.failed(m, err)
	}
	return false
}

// applyRounds applies a plan that was approved, and plans and applies again until nothing is left
// (rule G6).
func (g *group) applyRounds(ctx context.Context, m *member) {
	done := Applied
	if m.plan.Destroys {
		done = Destroyed
	}
	applied := &stackplan.Counts{}
	for round := 1; ; round++ {
		if _, err := m.driver.Apply(ctx, driver.ApplyRequest{Destroy: m.plan.Destroys, ApprovedBy: m.by}); err != nil {
			if errors.Is(err, process.ErrStopped) {
				m.end.Detail = "interrupted"
				if round == 1 {
					m.end.State = NotBegun
				}
				return
			}
			g.failed(m, err)
			return
		}
		if m.plan.Counts != nil {
			*applied = applied.Plus(*m.plan.Counts)
		}
		applied.Defer = 0 // it is not done
		m.end.State, m.end.Counts = done, applied
		if m.plan.Complete {
			return
		}
		if round >= max(g.Rounds, 1) {
			g.failed(m, fmt.Errorf("changes are still deferred after round %d", round))
			return
		}
		m.end.State = InPart
		if ctx.Err() != nil {
			m.end.Detail = "interrupted"
			return
		}
		next, err := m.driver.Plan(ctx, driver.PlanRequest{Destroy: g.Destroy, Again: true})
		switch {
		case err != nil:
			g.failed(m, fmt.Errorf("plan of round %d: %w", round+1, err))
			return
		case !next.Changes:
			m.end.State = done
			return
		case next.State == m.plan.State && !next.Complete: // the round has brought nothing
			g.failed(m, fmt.Errorf("changes are still deferred after round %d", round))
			return
		}
		if m.plan = next; !g.approved(ctx, m) {
			return
		}
	}
}

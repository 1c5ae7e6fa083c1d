// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// kind is the effect of a step.
type kind uint8

const (
	changeStep  kind = iota // creates or updates an object, or only checks the conditions of one
	destroyStep             // destroys an object
	forgetStep              // drops an object from the state
	readStep                // reads a data source
	joinStep                // does nothing: it stands for all that it waits for
)

// step is something to be done.
type step struct {
	kind   kind
	change *planned.Change // nil for joins
	after  []wait
	number int32 // of the step in its schedule

	// old is the step that destroys the object replaced by this one, if that is done after it. It
	// learns from this step which object that is.
	old     *step
	deposed stackaddrs.DeposedKey // of a destroyStep or a forgetStep

	making promising.Once[bool] // of a step with invocations
	done   promising.PromiseGet[bool]

	// All are written before done is resolved.
	value  cty.Value // of the object as expressions see it, of a changeStep or readStep that has succeeded
	halted bool      // it was not begun, or not all of it, since nothing begins any more

	changed *resource.Target      // of a changeStep that has changed something
	left    []*planned.Invocation // actions that were not invoked, since nothing begins any more
}

// wait is that a step must have succeeded before another one.
type wait struct {
	on   *step
	rank rank
}

// rank is the importance of a wait. Waits that would close a cycle are given up, the lowest rank
// first.
type rank uint8

const (
	turned rank = iota // an object ends later than it has to, since terraform does so (rules O8 and O9)
	named              // a new object may need the name or the address of an old one (rule O8b)
	tidy               // the users of an object are up to date, or gone, before it changes (rules O6 and O7)
	used               // an object is not used any more when it is destroyed late (rules O6 and O8)
	kept               // an object outlives those that were made for it (rule O5)
	firm               // it cannot be done otherwise (rules O1 to O4)
)

// situation is the facts that determine the order of changes.
type situation struct {
	changes []*planned.Change

	// storedBefore returns the dependencies with which the present object of a change was stored:
	// addresses of blocks.
	storedBefore func(*planned.Change) []string

	graph *deps.Graph
}

// schedule returns the steps of changes, each with those that it waits for (rules O1 to O10).
func schedule(s situation) []*step {
	p := &scheduler{situation: s, blocks: map[stackaddrs.ResourceInstance]*block{}, users: map[string]*group{}}
	for _, c := range s.changes {
		if c.Deferred == "" {
			p.add(c)
		}
	}
	for _, b := range p.order {
		p.dependencies(b)
		p.leftOvers(b)
		p.stored(b)
		p.fresh(b)
	}
	p.disentangle()
	return p.steps
}

type scheduler struct {
	situation
	steps  []*step
	blocks map[stackaddrs.ResourceInstance]*block
	order  []*block
	late   bool              // something is destroyed after others are created
	users  map[string]*group // by the name of the block on which the stored objects depend
}

// block is a present or former block of the configuration, with the steps of its instances.
type block struct {
	group
	text     string         // address
	config   *deps.Resource // nil if the configuration has no such block
	makers   []*step        // all that make, check or read objects
	joined   []*step        // one that waits for these; nil until somebody asks
	leftOver []*step        // destroy objects that were deposed before
}

// group is steps by the module instances of their objects.
type group struct {
	parts    []*part
	byModule map[stackaddrs.ModuleInstance]*part
}

// part is the steps of a group in one module instance.
type part struct {
	module   stackaddrs.ModuleInstance
	creators []*step // create or update objects
	fresh    []*step // those of the creators whose objects are new
	early    []*step // destroy objects before others are created
	late     []*step // destroy objects after others are created
}

func (g *group) in(module stackaddrs.ModuleInstance) *part {
	if known := g.byModule[module]; known != nil {
		return known
	}
	if g.byModule == nil {
		g.byModule = map[stackaddrs.ModuleInstance]*part{}
	}
	made := &part{module: module}
	g.byModule[module] = made
	g.parts = append(g.parts, made)
	return made
}

// add makes the steps of a change.
func (p *scheduler) add(c *planned.Change) {
	b := p.block(c.Addr)
	switch c.Action {
	case engine.ActionForget: // rule O10
		p.step(forgetStep, c)
	case engine.ActionRead:
		b.made(p.step(readStep, c))
	case engine.ActionNoOp: // is no creator (rule O8a)
		b.made(p.step(changeStep, c))
	case engine.ActionDelete:
		p.destroys(b, c, p.step(destroyStep, c))
	case engine.ActionDeleteThenCreate: // rule O3
		old, made := p.step(destroyStep, c), p.step(changeStep, c)
		made.waits(firm, old)
		p.destroys(b, c, old)
		p.creates(b, c, made)
	case engine.ActionCreateThenForget: // rule O10, for the old object
		old, made := p.step(forgetStep, c), p.step(changeStep, c)
		made.old = old
		old.waits(firm, made)
		p.creates(b, c, made)
	case engine.ActionCreateThenDelete: // rule O4
		old, made := p.step(destroyStep, c), p.step(changeStep, c)
		made.old = old
		old.waits(firm, made)
		p.destroys(b, c, old)
		p.creates(b, c, made)
	default:
		p.creates(b, c, p.step(changeStep, c))
	}
}

func (p *scheduler) block(addr stackaddrs.ResourceInstance) *block {
	static := resource.ConfigAddr(addr)
	if known := p.blocks[static]; known != nil {
		return known
	}
	made := &block{text: static.String(), config: p.graph.Resource(static)}
	p.blocks[static] = made
	p.order = append(p.order, made)
	return made
}

func (p *scheduler) step(kind kind, c *planned.Change) *step {
	made := &step{kind: kind, change: c, number: int32(len(p.steps))}
	if c != nil && (kind == destroyStep || kind == forgetStep) {
		made.deposed = c.Deposed
	}
	p.steps = append(p.steps, made)
	return made
}

func (s *step) waits(r rank, before ...*step) {
	for _, other := range before {
		s.after = append(s.after, wait{other, r})
	}
}

// createFirst reports whether objects are replaced by creating the new one first.
func (b *block) createFirst() bool { return b.config != nil && b.config.CreateBeforeDestroy }

func (b *block) made(s *step) { b.makers = append(b.makers, s) }

// creates notes a step that creates or changes an object.
func (p *scheduler) creates(b *block, c *planned.Change, s *step) {
	b.made(s)
	here := b.in(c.Addr.Module)
	here.creators = append(here.creators, s)
	stored := p.storedBefore(c)
	if len(stored) == 0 {
		here.fresh = append(here.fresh, s)
	}
	for _, name := range stored {
		user := p.usersOf(name).in(c.Addr.Module)
		user.creators = append(user.creators, s)
	}
}

// destroys adds a step that destroys an object. It comes after others are created for objects that
// were replaced in that order, or are to be (rule O8).
func (p *scheduler) destroys(b *block, c *planned.Change, s *step) {
	late := c.Deposed != "" || c.Action == engine.ActionCreateThenDelete ||
		c.Action == engine.ActionDelete && (c.CreateBeforeDestroy || b.createFirst())
	p.late = p.late || late
	note := func(here *part) {
		if late {
			here.late = append(here.late, s)
		} else {
			here.early = append(here.early, s)
		}
	}
	if c.Deposed != "" {
		b.leftOver = append(b.leftOver, s)
	}
	note(b.in(c.Addr.Module))
	for _, name := range p.storedBefore(c) {
		note(p.usersOf(name).in(c.Addr.Module))
	}
}

func (p *scheduler) usersOf(name string) *group {
	known := p.users[name]
	if known == nil {
		known = &group{}
		p.users[name] = known
	}
	return known
}

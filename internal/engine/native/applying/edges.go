// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// dependencies lets the steps that make or read objects of a block wait for those of the blocks on
// which it depends (rules O1 and O2). Blocks between others wait for these already.
func (p *scheduler) dependencies(b *block) {
	if len(b.makers) == 0 || b.config == nil {
		return
	}
	var before []*step
	waits := func(r *deps.Resource) bool { other := p.blocks[r.Addr]; return other != nil && len(other.makers) > 0 }
	for _, dependency := range b.config.Nearest(waits) {
		before = append(before, p.join(p.blocks[dependency.Addr])...)
	}
	p.link(firm, b.makers, before)
}

// join returns one step that stands for all makers of a block, or the only one.
func (p *scheduler) join(b *block) []*step {
	if len(b.makers) <= 1 {
		return b.makers
	}
	if b.joined == nil {
		b.joined = []*step{p.joinOf(firm, b.makers)}
	}
	return b.joined
}

func (p *scheduler) joinOf(r rank, all []*step) *step {
	joined := p.step(joinStep, nil)
	joined.waits(r, all...)
	return joined
}

// link lets steps wait for others.
func (p *scheduler) link(r rank, steps, before []*step) {
	const many = 16 // from so many edges on, a join costs less
	if len(steps) == 0 || len(before) == 0 {
		return
	}
	if len(steps) > 1 && len(steps)*len(before) > many {
		before = []*step{p.joinOf(r, before)}
	}
	for _, s := range steps {
		s.waits(r, before...)
	}
}

// leftOvers lets objects deposed by an earlier run be destroyed after the current objects of their
// instances are made (rule O9).
func (p *scheduler) leftOvers(b *block) {
	if len(b.leftOver) == 0 {
		return
	}
	current := make(map[stackaddrs.ResourceInstance]*step, len(b.makers))
	for _, s := range b.makers {
		current[s.change.Addr] = s
	}
	for _, s := range b.leftOver {
		if made := current[s.change.Addr]; made != nil {
			s.waits(turned, made)
		}
	}
}

// stored orders the steps of a block and of the blocks that its objects were made for, as far as
// these are stored (rules O5 to O8).
func (p *scheduler) stored(b *block) {
	users := p.users[b.text]
	if users == nil {
		return
	}
	for _, here := range b.parts {
		for _, user := range users.parts {
			if apart(here.module, user.module) {
				continue
			}
			p.link(kept, slices.Concat(here.early, here.late), slices.Concat(user.early, user.late)) // rule O5
			p.link(tidy, user.creators, here.early)                                                  // rule O6
			p.link(used, here.late, user.creators)                                                   // rules O6 and O8
			p.link(tidy, here.creators, user.early)                                                  // rule O7
			p.link(turned, user.late, here.creators)                                                 // rules O7 and O8
		}
	}
}

// fresh lets new objects of a block wait for the destruction of objects of the blocks that it
// refers to, whose names or addresses they may need (rule O8b). Where new ones come first, old
// objects of all blocks on which this one depends wait for the new objects.
func (p *scheduler) fresh(b *block) {
	if b.config == nil {
		return
	}
	for _, here := range b.parts {
		if len(here.fresh) == 0 {
			continue
		}
		if p.late {
			p.eachPart(here, b.config.Dependencies(), func(there *part) { p.link(used, there.late, here.fresh) })
		}
		if !b.createFirst() {
			p.eachPart(here, b.config.Direct(), func(there *part) { p.link(named, here.fresh, there.early) })
		}
	}
}

// eachPart calls visit with the steps of some resources that may have to do with those of a part.
func (p *scheduler) eachPart(here *part, resources []*deps.Resource, visit func(there *part)) {
	for _, r := range resources {
		other := p.blocks[r.Addr]
		if other == nil {
			continue
		}
		for _, there := range other.parts {
			if !apart(here.module, there.module) {
				visit(there)
			}
		}
	}
}

// apart reports whether module instances are, or are below, different instances of the same call
// (rule O8a).
func apart(a, b stackaddrs.ModuleInstance) bool {
	first, second := a.Path(), b.Path()
	for i := range min(len(first), len(second)) {
		if first[i].Name != second[i].Name {
			return false
		}
		if first[i].Key != second[i].Key {
			return true
		}
	}
	return false
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

// AnyResolver is a [PromiseResolver] of any type.
type AnyResolver interface {
	PromiseID() PromiseID
	handle() *promise
}

// PromiseContainer is something that [AsyncTask] can hand over.
type PromiseContainer interface {
	// EachResolver calls visit once for each promise in the container.
	EachResolver(visit func(AnyResolver))
}

// NoPromises is the empty container.
var NoPromises PromiseContainer = noPromises{}

type noPromises struct{}

func (noPromises) EachResolver(func(AnyResolver)) {}

// PromiseResolverPair is a container of two promises of any types.
type PromiseResolverPair[A, B any] struct {
	First  PromiseResolver[A]
	Second PromiseResolver[B]
}

// EachResolver implements [PromiseContainer].
func (p PromiseResolverPair[A, B]) EachResolver(visit func(AnyResolver)) {
	visit(p.First)
	visit(p.Second)
}

// PromiseResolverList is a container of any number of promises of one type.
type PromiseResolverList[T any] []PromiseResolver[T]

// EachResolver implements [PromiseContainer].
func (l PromiseResolverList[T]) EachResolver(visit func(AnyResolver)) {
	for _, r := range l {
		visit(r)
	}
}

var (
	_ PromiseContainer = PromiseResolver[int]{}
	_ PromiseContainer = PromiseResolverPair[int, string]{}
	_ PromiseContainer = PromiseResolverList[int](nil)
)

// adopt makes t responsible for the new promise p.
func (t *task) adopt(p *promise) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.ended {
		panic("promising: promise " + PromiseID{p}.String() + " made by a task that has ended (rule P5)")
	}
	p.responsible.Store(t)
	t.link(p)
}

// release takes p off the list of t, which must be responsible for it.
func (t *task) release(p *promise) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checkResponsible(p)
	t.unlink(p)
}

// handOver moves responsibility for the promises in c to the task to, which has
// not started. If that panics, to ends, so that nobody is stranded.
func (t *task) handOver(to *task, c PromiseContainer) {
	done := false
	defer func() {
		if !done {
			to.end(UnresolvedError{}) //nolint:errcheck // the waiters get the error
		}
	}()
	c.EachResolver(func(r AnyResolver) { t.transfer(to, r.handle()) })
	done = true
}

func (t *task) transfer(to *task, p *promise) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checkResponsible(p)
	t.unlink(p)
	p.responsible.Store(to)
	to.link(p) // without its lock: nobody else has it yet
}

func (t *task) checkResponsible(p *promise) {
	switch p.responsible.Load() {
	case t:
		return
	case nil:
		panic("promising: promise " + PromiseID{p}.String() + " is already resolved (rule P2)")
	default:
		panic("promising: not the task responsible for promise " + PromiseID{p}.String() + " (rule P2)")
	}
}

func (t *task) link(p *promise) {
	p.prev = t.mu.last
	if p.prev == nil {
		t.mu.first = p
	} else {
		p.prev.next = p
	}
	t.mu.last = p
}

// unlink does nothing for a promise that is not linked, as after an ignored Resolve.
func (t *task) unlink(p *promise) {
	if p.prev == nil && p.next == nil && t.mu.first != p {
		return
	}
	if p.prev == nil {
		t.mu.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		t.mu.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.prev, p.next = nil, nil
}

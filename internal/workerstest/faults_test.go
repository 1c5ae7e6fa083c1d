// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"syscall"
	"time"
)

// fault is a kind of fault.
type fault struct {
	name  string
	bring func(l *life) bool // reports whether there was something that it could be brought to

	// hard is a fault after which a run may fail. All others cost time only (rule W5).
	hard bool
}

// The longest absences: some are over before anybody notices, and some last beyond leases and signs
// of life.
const (
	briefly = time.Second
	long    = leaseTime + 4*time.Second
)

var faultKinds = []fault{
	{name: "worker killed", hard: true, bring: func(l *life) bool {
		w := l.anyWorker()
		if w == nil || w.signal(syscall.SIGKILL) != nil {
			return false
		}
		<-w.ended
		l.leaving[w] = true
		l.note("killed %s", w.name)
		l.replace(w)
		return true
	}},
	{name: "worker stopped", hard: true, bring: func(l *life) bool {
		w := l.anyWorker()
		if w == nil || w.signal(syscall.SIGSTOP) != nil {
			return false
		}
		pause := l.absence()
		l.note("stopped %s for %s", w.name, pause)
		l.frozen[w] = true
		l.after(pause, func() {
			delete(l.frozen, w)
			l.note("%s goes on", w.name)
			_ = w.signal(syscall.SIGCONT) // it may have been killed
		})
		return true
	}},
	{name: "worker ended", bring: func(l *life) bool {
		w := l.anyWorker()
		if w == nil || w.signal(syscall.SIGTERM) != nil {
			return false
		}
		l.note("%s is to end", w.name)
		l.leaving[w] = true
		l.replace(w)
		return true
	}},
	{name: "worker cut off", hard: true, bring: func(l *life) bool {
		w := l.anyWorker()
		if w == nil {
			return false
		}
		links := l.someLinks(w.place)
		how := (*link).freeze
		if l.random.IntN(2) == 0 {
			how = (*link).cut
		}
		for _, link := range links {
			how(link)
		}
		pause := l.absence()
		l.note("%s is without %d of its links for %s", w.name, len(links), pause)
		l.after(pause, func() {
			l.note("%s has its links again", w.name)
			for _, link := range links {
				link.heal()
			}
		})
		return true
	}},
	{name: "run killed", bring: func(l *life) bool { return l.endCarriers(syscall.SIGKILL, "killed") }},
	{name: "run interrupted once", hard: true, bring: func(l *life) bool { return l.endCarriers(syscall.SIGINT, "interrupted") }},
	{name: "run interrupted twice", hard: true, bring: func(l *life) bool {
		if !l.endCarriers(syscall.SIGINT, "interrupted") {
			return false
		}
		l.after(l.upTo(700*time.Millisecond), func() { l.endCarriers(syscall.SIGINT, "interrupted again") })
		return true
	}},
	{name: "run followed", bring: func(l *life) bool {
		if l.run.id == "" {
			return false
		}
		l.attach()
		return true
	}},
	{name: "queue killed", bring: func(l *life) bool {
		if l.away["queue"] {
			return false
		}
		l.away["queue"] = true
		l.temporal.Kill(l)
		pause := l.upTo(leaseTime)
		l.note("the queue is away for %s", pause)
		l.after(pause, l.returnQueue)
		return true
	}},
	{name: "database killed", bring: func(l *life) bool {
		if l.away["database"] {
			return false
		}
		l.away["database"] = true
		l.postgres.Stop(l, syscall.SIGQUIT)
		pause := l.upTo(leaseTime)
		if l.random.IntN(2) == 0 {
			pause = 0
		}
		l.note("the database is away for %s", pause)
		l.after(pause, func() {
			l.postgres.Run(l)
			l.note("the database is back")
			delete(l.away, "database")
		})
		return true
	}},
	{name: "records killed", bring: func(l *life) bool {
		if l.objects == nil || l.away["records"] {
			return false
		}
		l.away["records"] = true
		l.objects.Kill(l)
		pause := l.upTo(leaseTime)
		l.note("the records are away for %s", pause)
		l.after(pause, func() {
			l.objects.Run(l)
			l.note("the records are back")
			delete(l.away, "records")
		})
		return true
	}},
}

// returnQueue starts the queue again, as soon as its database is there.
func (l *life) returnQueue() {
	if l.queue == inPostgres && l.away["database"] {
		l.after(briefly/10, l.returnQueue)
		return
	}
	l.temporal.Run(l)
	l.note("the queue is back")
	delete(l.away, "queue")
}

// anyWorker returns a worker that runs and is not stopped, nil if there is none.
func (l *life) anyWorker() *worker {
	var found []*worker
	for _, w := range l.alive() {
		if !l.frozen[w] && !l.leaving[w] {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[l.random.IntN(len(found))]
}

// replace has a worker begin again after a while, or another one take its place.
func (l *life) replace(w *worker) {
	again := l.random.IntN(3) > 0
	l.after(l.upTo(leaseTime), func() {
		l.newest = l.generation
		if again && w.hasEnded() {
			l.note("%s begins again", w.name)
			delete(l.leaving, w)
			l.begin(w)
			return
		}
		l.note("%s takes the place of %s", l.addWorker(w.pool).name, w.name)
	})
}

// someLinks returns one or more of the links of a place.
func (l *life) someLinks(p *place) []*link {
	switch l.random.IntN(3) {
	case 0:
		return []*link{p.queue}
	case 1:
		return p.stores
	default:
		return append([]*link{p.queue}, p.stores...)
	}
}

// endCarriers sends a signal to all programs of the run.
func (l *life) endCarriers(signal syscall.Signal, how string) bool {
	ended := false
	for _, p := range l.run.carriers {
		if !p.hasEnded() && p.signal(signal) == nil {
			ended = true
		}
	}
	if ended {
		l.note("programs of the run are %s", how)
	}
	return ended
}

func (l *life) absence() time.Duration {
	if l.random.IntN(2) == 0 {
		return l.upTo(briefly)
	}
	return l.upTo(long)
}

func (l *life) upTo(d time.Duration) time.Duration {
	return time.Duration(l.random.Int64N(int64(d))).Round(time.Millisecond)
}

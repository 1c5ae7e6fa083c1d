// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// asked has the answers of the programs of a stack's providers. It is safe for concurrent use.
type asked struct {
	sync.Mutex
	tried map[string]bool // by everything that the answer depends on
	known map[stackaddrs.Provider]*engines.Kept
}

// begin reports whether nobody has asked yet.
func (a *asked) begin(question string) bool {
	a.Lock()
	defer a.Unlock()
	if a.tried[question] {
		return false
	}
	if a.tried == nil {
		a.tried = map[string]bool{}
	}
	a.tried[question] = true
	return true
}

func (a *asked) answer(provider stackaddrs.Provider, kept *engines.Kept) {
	a.Lock()
	defer a.Unlock()
	if a.known == nil {
		a.known = map[stackaddrs.Provider]*engines.Kept{}
	}
	a.known[provider] = kept
}

func (a *asked) now() map[stackaddrs.Provider]*engines.Kept {
	a.Lock()
	defer a.Unlock()
	return maps.Clone(a.known)
}

// Ask asks providers that a stack requires, and of which nothing is known, for their schemas. It
// may start their programs, and takes its time. Each is asked once, and again if requirements or
// locks have changed. It reports whether the next snapshot knows more.
func (w *Workspace) Ask(ctx context.Context, snap *Snapshot) bool {
	w.mu.Lock()
	s := w.mu.stacks[snap.Dir]
	w.mu.Unlock()
	if s == nil {
		return false
	}
	locked := stampOfFile(filepath.Join(snap.Dir, locks.FileName))
	required, more := snap.Declared.Requirements(), false
	for _, provider := range slices.SortedFunc(maps.Keys(required), stackaddrs.Provider.Compare) {
		constraints := required[provider]
		question := provider.String() + "\x00" + strings.Join(constraints, "\x00") + "\x00" + locked
		if ctx.Err() != nil || snap.ProviderSchema(provider) != nil || !s.asked.begin(question) {
			continue
		}
		kept, err := describe(ctx, s, provider, constraints)
		if err != nil { // validation reports it
			continue
		}
		s.asked.answer(provider, kept)
		more = true
	}
	if more {
		w.mu.Lock()
		w.changed(snap.Dir)
		w.mu.Unlock()
	}
	return more
}

func describe(ctx context.Context, s *stack, provider stackaddrs.Provider, constraints []string) (*engines.Kept, error) {
	opened := operation.Open(operation.Options{Env: env.Options{Dir: s.dir, Environ: s.opts.Environ}})
	defer func() { _ = opened.Close() }() //nolint:errcheck // it has opened nothing that is written
	return opened.Providers().Describe(ctx, provider, constraints)
}

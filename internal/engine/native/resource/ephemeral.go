// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Ephemerals are the ephemeral resources that are open in a phase. The zero value has none. Safe
// for concurrent use.
type Ephemerals struct {
	mu struct {
		sync.Mutex
		open []*openEphemeral // in the order in which they were opened
	}
}

// openEphemeral is an ephemeral resource that is to be closed.
type openEphemeral struct {
	target   *Target
	end      context.CancelFunc // of renewing
	renewing sync.WaitGroup
	close    sync.Once

	// The fields below belong to the renewing goroutine until that has ended.
	private []byte
	failed  provider.Diagnostics
}

// PlannedEphemeral returns the known parts of an ephemeral resource that is not opened.
func (rt *Runtime) PlannedEphemeral(t *Target, config *DataConfig) cty.Value {
	return rt.PlannedData(t, config)
}

// OpenEphemeral opens an ephemeral resource whose configuration is known, and keeps it open until
// [Runtime.CloseEphemerals]. The value has the marks of the configuration; references to it mark
// all of it as ephemeral.
func (rt *Runtime) OpenEphemeral(ctx context.Context, t *Target, config *DataConfig) (cty.Value, provider.DeferredReason, bool) {
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return cty.NilVal, 0, false
	}
	defer done()
	if !rt.Said(t, t.Provider.ValidateResource(ctx, stackaddrs.EphemeralResource, t.Name, config.value)) {
		return cty.NilVal, 0, false
	}
	response := t.Provider.OpenEphemeral(ctx, provider.OpenEphemeralRequest{
		Type: t.Name, Config: config.value,
		DeferralAllowed: rt.DeferralAllowed,
	})
	switch {
	case !rt.Said(t, response.Diagnostics):
		return cty.NilVal, 0, false
	case response.Deferred != provider.NotDeferred:
		return rt.PlannedEphemeral(t, config), response.Deferred, rt.mayDefer(t)
	}
	rt.keepOpen(ctx, t, &response)
	if response.Result == cty.NilVal {
		response.Result = t.Null()
	}
	faults := append(change.Conform(t.Block, response.Result), notKnown(response.Result)...)
	if len(faults) == 0 {
		faults = change.CheckPlanned(t.Block, t.Null(), config.value, response.Result)
	}
	if !rt.broken(t, "Provider produced invalid object", "has opened, with mistakes,", faults) {
		return cty.NilVal, 0, false
	}
	return t.Mark(response.Result, config.sensitive), 0, true
}

// keepOpen notes that an ephemeral resource is open, and renews it for as long as it is.
func (rt *Runtime) keepOpen(ctx context.Context, t *Target, opened *provider.OpenEphemeralResponse) {
	ctx, end := context.WithCancel(ctx)
	e := &openEphemeral{target: t, end: end, private: opened.Private}
	open := &rt.Ephemerals
	open.mu.Lock()
	defer open.mu.Unlock()
	open.mu.open = append(open.mu.open, e)
	if !opened.RenewAt.IsZero() {
		e.renewing.Go(func() { e.renew(ctx, opened.RenewAt) })
	}
}

// renew renews the ephemeral resource whenever its provider has asked for that, until the context
// ends.
func (e *openEphemeral) renew(ctx context.Context, at time.Time) {
	for !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		response := e.target.Provider.RenewEphemeral(ctx, provider.EphemeralRequest{Type: e.target.Name, Private: e.private})
		if ctx.Err() != nil {
			return
		}
		if e.failed = response.Diagnostics; e.failed.HasErrors() {
			return
		}
		e.private, at = response.Private, response.RenewAt
	}
}

// closingTime is how long an ephemeral resource may take to be closed.
const closingTime = 10 * time.Second

// CloseEphemerals closes the open ephemeral resources of some blocks, by their addresses in the
// configuration, or all without any: the last opened first, also after the operation was
// interrupted. Nothing may use them any more.
func (rt *Runtime) CloseEphemerals(ctx context.Context, blocks ...stackaddrs.ResourceInstance) {
	open := &rt.Ephemerals
	open.mu.Lock()
	closing := slices.Clone(open.mu.open)
	open.mu.Unlock()
	for _, e := range slices.Backward(closing) {
		if len(blocks) == 0 || slices.Contains(blocks, ConfigAddr(e.target.Addr)) {
			e.close.Do(func() { rt.closeEphemeral(ctx, e) }) // waits for others that do
		}
	}
}

func (rt *Runtime) closeEphemeral(ctx context.Context, e *openEphemeral) {
	e.end()
	e.renewing.Wait()
	rt.Said(e.target, e.failed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	rt.Said(e.target, e.target.Provider.CloseEphemeral(ctx, provider.EphemeralRequest{Type: e.target.Name, Private: e.private}))
}

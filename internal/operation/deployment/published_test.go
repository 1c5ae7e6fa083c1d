// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// start is when the first values are published.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// publisher publishes values by applies of deployments in a store.
type publisher struct {
	testing.TB
	store statestore.Store
	known *deployment.Known
}

func newPublisher(tb testing.TB) *publisher {
	tb.Helper()
	store, err := tables.Open(filepath.Join(tb.TempDir(), "state.db"), &tables.Shared{}, statestore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	return &publisher{tb, store, &deployment.Known{}}
}

func (p *publisher) readings() *deployment.Readings {
	return deployment.NewReadings(p.store, "state.db", p.known)
}

// change applies a deployment, and lets a function say which records that keeps. It returns their
// number.
func (p *publisher) change(ctx context.Context, name string, records func(*deployment.Stored) (map[string][]byte, error)) int {
	p.Helper()
	stored, err := (&deployment.Deployment{Name: name, Store: p.store}).Lock(ctx, statestore.LockRequest{Operation: "apply"})
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = stored.Unlock(ctx) }()
	changes, err := records(stored)
	if err != nil {
		p.Fatal(err)
	}
	if len(changes) > 0 {
		if err := stored.Write(ctx, "apply", changes); err != nil {
			p.Fatal(err)
		}
	}
	return len(changes)
}

func (p *publisher) publish(ctx context.Context, name string, at time.Time, values map[string]cty.Value) int {
	p.Helper()
	return p.change(ctx, name, func(stored *deployment.Stored) (map[string][]byte, error) {
		return p.readings().Publish(ctx, stored, at, values)
	})
}

// check makes sure that these values are published, for readers with a cache and without one.
func (p *publisher) check(ctx context.Context, want map[string]cty.Value) {
	p.Helper()
	for _, readings := range []*deployment.Readings{p.readings(), deployment.NewReadings(p.store, "state.db", nil)} {
		published, err := readings.Published(ctx)
		if err != nil || !maps.EqualFunc(published.Values, want, cty.Value.RawEquals) {
			p.Errorf("published is %v (%v), want %v", published.Values, err, want)
		}
	}
}

func (p *publisher) of(ctx context.Context, name string) deployment.Published {
	p.Helper()
	stored, err := (&deployment.Deployment{Name: name, Store: p.store}).Read(ctx)
	if err != nil {
		p.Fatal(err)
	}
	published, err := stored.Published()
	if err != nil {
		p.Fatal(err)
	}
	return published
}

// A value stays published until it is published anew, whichever deployment is applied, and each
// deployment keeps the changes of its applies.
func TestPublished(t *testing.T) {
	ctx := t.Context()
	p := newPublisher(t)
	p.check(ctx, nil)
	id, key, list := cty.StringVal("x"), cty.StringVal("secret").Mark(marks.Sensitive), cty.EmptyTupleVal

	first := map[string]cty.Value{"id": id, "key": key}
	p.publish(ctx, "b", start, first)
	p.check(ctx, first)
	if changed := p.publish(ctx, "a", start.Add(time.Second), first); changed > 0 {
		t.Errorf("publishing the same again has changed %d records", changed)
	}

	second := map[string]cty.Value{"id": cty.StringVal("y"), "list": list}
	p.publish(ctx, "a", start.Add(2*time.Second), second)
	p.check(ctx, second)
	if has := p.of(ctx, "a"); !maps.EqualFunc(has.Values, second, cty.Value.RawEquals) {
		t.Errorf("a has published %v, want %v", has.Values, second)
	}

	p.publish(ctx, "b", start.Add(3*time.Second), map[string]cty.Value{"list": list})
	p.check(ctx, map[string]cty.Value{"list": list})
	if has := p.of(ctx, "b"); len(has.Values) > 0 {
		t.Errorf("b has published %v, want nothing: all that it has changed was removed", has.Values)
	}

	p.publish(ctx, "a", start.Add(-time.Hour), map[string]cty.Value{"id": id}) // by a clock that is slow
	p.check(ctx, map[string]cty.Value{"id": id})
	p.publish(ctx, "c", start.Add(5*time.Second), nil)
	p.check(ctx, nil)
}

// A deployment that publishes while another one does loses none of the other's changes.
func TestPublishedAtTheSameTime(t *testing.T) {
	ctx := t.Context()
	p := newPublisher(t)
	one, two := cty.NumberIntVal(1), cty.NumberIntVal(2)
	p.change(ctx, "a", func(a *deployment.Stored) (map[string][]byte, error) {
		changes, err := p.readings().Publish(ctx, a, start, map[string]cty.Value{"one": one})
		p.publish(ctx, "b", start.Add(time.Second), map[string]cty.Value{"two": two})
		return changes, err
	})
	p.check(ctx, map[string]cty.Value{"one": one, "two": two})
}

// Records by versions that kept all that was published with each apply replace everything before.
func TestPublishedAsAWhole(t *testing.T) {
	ctx := t.Context()
	p := newPublisher(t)
	whole := func(name string, at time.Time, values map[string]cty.Value) {
		t.Helper()
		p.change(ctx, name, func(stored *deployment.Stored) (map[string][]byte, error) {
			changes, err := deployment.NewReadings(p.store, "state.db", nil).Publish(ctx, stored, at, values)
			changes["pubL"], _ = json.Marshal(map[string]time.Time{"at": at})
			return changes, err
		})
	}
	one, two := cty.NumberIntVal(1), cty.NumberIntVal(2)
	whole("a", start, map[string]cty.Value{"one": one, "two": two})
	whole("b", start.Add(time.Second), map[string]cty.Value{"two": one})
	p.check(ctx, map[string]cty.Value{"two": one})
	p.publish(ctx, "b", start.Add(2*time.Second), map[string]cty.Value{"two": two})
	p.check(ctx, map[string]cty.Value{"two": two}) // and "one" stays gone
}

// Earlier readings are not taken for the present state when another process has written.
func TestReadingsOfChangedStates(t *testing.T) {
	ctx := t.Context()
	p := newPublisher(t)
	one, two := cty.NumberIntVal(1), cty.NumberIntVal(2)
	p.publish(ctx, "a", start, map[string]cty.Value{"v": one})
	p.check(ctx, map[string]cty.Value{"v": one})
	other := &publisher{t, p.store, nil}
	other.publish(ctx, "a", start.Add(time.Second), map[string]cty.Value{"v": two})
	p.check(ctx, map[string]cty.Value{"v": two})
}

// BenchmarkPublish is the apply of a deployment after which the stack publishes one new value,
// where as many deployments as the name says publish one each.
func BenchmarkPublish(b *testing.B) {
	for _, number := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(number), func(b *testing.B) {
			ctx := b.Context()
			p := newPublisher(b)
			values := map[string]cty.Value{}
			for i := range number {
				values[fmt.Sprint("v", i)] = cty.NumberIntVal(0)
				p.publish(ctx, fmt.Sprint("d", i), start.Add(time.Duration(i)*time.Second), values)
			}
			at := start.Add(time.Duration(number) * time.Second)
			for i := 0; b.Loop(); i++ {
				values["v0"] = cty.NumberIntVal(int64(i + 1))
				p.publish(ctx, "d0", at.Add(time.Duration(i)*time.Second), values)
			}
		})
	}
}

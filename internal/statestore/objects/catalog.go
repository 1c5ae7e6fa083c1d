// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// catalog is the list of the deployments of a stack (rule O6).
type catalog struct {
	place  *place
	folder string
	turn   chan struct{} // is held while the others are used
	known  *statelogv1.Catalog
}

func newCatalog(p *place) *catalog {
	return &catalog{place: p, folder: p.prefix + "catalog/", turn: make(chan struct{}, 1), known: &statelogv1.Catalog{}}
}

// read calls a function with the catalog as it is now, and makes the next one if it returns one.
func (c *catalog) update(ctx context.Context, next func(now *statelogv1.Catalog) (*statelogv1.Catalog, error)) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	for {
		if err := c.refresh(ctx); err != nil {
			return err
		}
		want, err := next(c.known)
		if err != nil || want == nil {
			return err
		}
		want.FormatVersion, want.Id, want.Number = formatVersion, rand.Text(), c.known.GetNumber()+1
		object, err := frame(want)
		if err != nil {
			return err
		}
		ctx := context.WithoutCancel(ctx)
		err = c.place.Create(ctx, objectName(c.folder, want.GetNumber(), entryKind), object)
		if errors.Is(err, objectstore.ErrExists) {
			// By another process, or by an attempt whose answer was lost (rule O3).
			var there []byte
			there, err = c.place.Read(ctx, objectName(c.folder, want.GetNumber(), entryKind))
			if err == nil && sha256.Sum256(there) != sha256.Sum256(object) {
				continue
			}
		}
		if err == nil {
			c.known = want
		}
		return err
	}
}

func (c *catalog) refresh(ctx context.Context) error {
	names, _, err := c.place.List(ctx, c.folder, nil, 1)
	if err != nil {
		return err
	}
	var number int64
	for _, name := range names {
		number, _, _ = parseName(c.folder, name)
	}
	switch {
	case number < c.known.GetNumber():
		return c.place.corrupt(fmt.Sprintf("its catalog ends with entry %d, and had entry %d", number, c.known.GetNumber()))
	case number == c.known.GetNumber():
		return nil
	}
	object, err := c.place.Read(ctx, objectName(c.folder, number, entryKind))
	if err != nil {
		return err
	}
	now := &statelogv1.Catalog{}
	err = unframe(object, now)
	if err == nil {
		err = checkFormat(now.GetFormatVersion())
	}
	if err == nil && now.GetNumber() != number {
		err = errDamaged
	}
	if err != nil {
		return c.place.unreadable("the catalog", err)
	}
	c.known = now
	return nil
}

// checkHere fails if the states were moved.
func (c *catalog) checkHere(ctx context.Context) error {
	return c.update(ctx, func(now *statelogv1.Catalog) (*statelogv1.Catalog, error) { return nil, c.moved(now) })
}

func (c *catalog) moved(now *statelogv1.Catalog) error {
	if now.GetMoved() == "" {
		return nil
	}
	return c.place.movedTo(now.GetMoved(), toTime(now.GetMovedAt()))
}

// deployments returns the names in the catalog, sorted.
func (c *catalog) deployments(ctx context.Context) (names []string, err error) {
	err = c.update(ctx, func(now *statelogv1.Catalog) (*statelogv1.Catalog, error) {
		names = slices.Clone(now.GetDeployments())
		return nil, c.moved(now)
	})
	return names, err
}

// has reports whether a deployment has a log, by the catalog.
func (c *catalog) has(ctx context.Context, deployment string) (bool, error) {
	names, err := c.deployments(ctx)
	return slices.Contains(names, deployment), err
}

// enter makes sure that a deployment is in the catalog.
func (c *catalog) enter(ctx context.Context, deployment string) error {
	return c.update(ctx, func(now *statelogv1.Catalog) (*statelogv1.Catalog, error) {
		if err := c.moved(now); err != nil || slices.Contains(now.GetDeployments(), deployment) {
			return nil, err
		}
		names := append(slices.Clone(now.GetDeployments()), deployment)
		slices.Sort(names)
		return &statelogv1.Catalog{Deployments: names}, nil
	})
}

// move notes that the states are elsewhere, if these are still the deployments.
func (c *catalog) move(ctx context.Context, to string, names []string, at time.Time) error {
	return c.update(ctx, func(now *statelogv1.Catalog) (*statelogv1.Catalog, error) {
		if err := c.moved(now); err != nil {
			return nil, err
		}
		if !slices.Equal(now.GetDeployments(), names) {
			return nil, statestore.ErrChanged
		}
		return &statelogv1.Catalog{Deployments: names, Moved: to, MovedAt: fromTime(at)}, nil
	})
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package states is the door to the states of stacks: whoever reads or changes one opens it here,
// by its [Place].
//
// Rules:
//
//   - D1. Only this package opens stores. Which kinds there are is known to package statestore, by
//     the scheme of a location; a decorator of all of them wraps the result of openStored, as that
//     for encryption does.
//   - D2. That a state is in a file is for [Place.File] to say, and for nobody to assume.
package states

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
)

// Default is where the state is kept, next to the stack.
const Default = "cairn.state.db"

// Shared is the cache of the states that one process works on. The zero value is empty. It is safe
// for concurrent use.
type Shared struct {
	stores   locations.Shared
	as       *Shared // whose stores these are; nil for the own ones
	readings deployment.Known
}

// ConnectAs has the connections in common with another cache. It is called before any use.
func (s *Shared) ConnectAs(other *Shared) { s.as = other }

func (s *Shared) connections() *locations.Shared {
	if s.as != nil {
		return s.as.connections()
	}
	return &s.stores
}

// Place is where the states of the deployments of a stack are.
type Place struct {
	location string // a path, or a URL
	shared   *Shared
	notify   notice.Func
	keys     *encryption.Keyring
}

// At returns the place at a location, for the stack whose surroundings these are.
func At(location string, e *env.Env, shared *Shared) (Place, error) {
	keys, err := e.Keys()
	return Place{location, shared, e.Notify, keys}, err
}

// Of returns the place of the states of a stack.
func Of(e *env.Env, shared *Shared) (Place, error) {
	read, err := e.Settings()
	if err != nil {
		return Place{}, err
	}
	location := settings.PlaceState(cmp.Or(read.State, Default), e.FromHome)
	if e.State != "" {
		location = e.State // by someone in the current directory
	} else if named := e.Getenv(env.StateVariable); named != "" {
		location = settings.PlaceState(named, e.FromEnviron)
	}
	if location, err = withKey(location, e, read.Name); err != nil {
		return Place{}, err
	}
	return At(location, e, shared)
}

// Named returns the place that somebody in the current directory names for the states of a stack.
func Named(location string, e *env.Env, shared *Shared) (Place, error) {
	read, err := e.Settings()
	if err != nil {
		return Place{}, err
	}
	if location, err = withKey(location, e, read.Name); err != nil {
		return Place{}, err
	}
	return At(location, e, shared)
}

// String describes the place, without credentials.
func (p Place) String() string { return locations.Shown(p.location) }

// File returns the path of the file that the states are in, whether it exists or not; "" if they
// are in none.
func (p Place) File() string {
	path := strings.TrimPrefix(p.location, settings.FileStore+"://")
	if strings.Contains(path, "://") {
		return ""
	}
	return path
}

// Same reports whether two are the same place, as far as their texts say it.
func (p Place) Same(other Place) bool {
	if path := p.File(); path != "" {
		return other.File() != "" && env.Absolute(path) == env.Absolute(other.File())
	}
	return p.String() == other.String()
}

// ReadOnly reports whether the states are in a file that this user cannot write.
func (p Place) ReadOnly() bool {
	path := p.File()
	_, err := os.Stat(path)
	return path != "" && (!access.Writable(filepath.Dir(path)) || !errors.Is(err, fs.ErrNotExist) && !access.Writable(path))
}

// Open returns the store. The caller closes it.
func (p Place) Open(_ context.Context) (statestore.Store, error) {
	return p.open(statestore.Options{}, encryptedstore.Usual)
}

// OpenAs is [Place.Open] for changing how records are encrypted.
func (p Place) OpenAs(mode encryptedstore.Mode) (statestore.Store, error) {
	return p.open(statestore.Options{}, mode)
}

// OpenStored returns the store with its records as they are stored, encrypted or not, for copying
// them. The caller closes it.
func (p Place) OpenStored() (statestore.Store, error) { return p.openStored(statestore.Options{}) }

// Peek reads the state of a deployment. It takes no lock, starts no process but one that unwraps
// the key of the state, and leaves no trace on the disk. A state that is being written to it may
// not be able to read.
func (p Place) Peek(ctx context.Context, deployment string) (*statestore.Snapshot, error) {
	store, err := p.open(statestore.Options{Traceless: true}, encryptedstore.Usual)
	if err != nil {
		return nil, err
	}
	snapshot, err := store.Read(ctx, deployment)
	return snapshot, errors.Join(err, store.Close())
}

func (p Place) open(opts statestore.Options, mode encryptedstore.Mode) (statestore.Store, error) {
	store, err := p.openStored(opts)
	if err != nil {
		return nil, err
	}
	return encryptedstore.New(store, p.keys, mode), nil
}

func (p Place) openStored(opts statestore.Options) (statestore.Store, error) {
	var shared *locations.Shared
	if p.shared != nil && !opts.Traceless {
		shared = p.shared.connections()
	}
	opts.Away = func(outage statestore.Outage) { p.notify.Send(notice.WaitingForState(outage)) }
	return locations.Open(p.location, shared, opts)
}

// Readings are those of the states in the opened store, of which the process knows some already.
func (p Place) Readings(store statestore.Store) *deployment.Readings {
	var known *deployment.Known
	if p.shared != nil {
		known = &p.shared.readings
	}
	return deployment.NewReadings(store, p.location, known)
}

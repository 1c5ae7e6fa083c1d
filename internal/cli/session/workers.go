// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/workers/components"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/connect"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/runs"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// noWorkers is the value of [config.Variable] that has all work done in this process.
const noWorkers = "none"

// workers are the blocks about workers that were read, by the directories of their files.
type workers struct {
	mu   sync.Mutex
	read map[string]*config.Config
}

// Workers returns the block about workers that counts where a workspace file has one, or none; nil
// for work in this process.
func (s *Session) Workers(declared *config.Config) (*config.Config, error) {
	switch name := os.Getenv(config.Variable); name {
	case "":
		return declared, nil
	case noWorkers:
		return nil, nil //nolint:nilnil // see above
	default:
		read, diags := config.ReadFile(name, s.Files)
		if diags.HasErrors() {
			return nil, diags
		}
		return read, nil
	}
}

// WorkersOf returns the block about workers that counts for a directory: that of the workspace file
// at the top of its repository is declared. It is nil for work in this process.
func (s *Session) WorkersOf(dir string) (*config.Config, error) {
	top := sources.Top(dir)
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	if found, ok := s.workers.read[top]; ok {
		return found, nil
	}
	declared, err := s.declaredWorkers(filepath.Join(top, settings.WorkspaceFile))
	if err != nil {
		return nil, err
	}
	found, err := s.Workers(declared)
	if err != nil {
		return nil, err
	}
	if s.workers.read == nil {
		s.workers.read = map[string]*config.Config{}
	}
	s.workers.read[top] = found
	return found, nil
}

// WorkersHere returns the block about workers that counts for the current directory, where there
// has to be one.
func (s *Session) WorkersHere() (*config.Config, error) {
	current, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	found, err := s.WorkersOf(current)
	if found == nil && err == nil {
		err = failure.Error("No workers", "Runs are kept where workers do them, and no block %q says where. Name the file with it in %s, "+
			"or go to a repository whose %s has one.", config.BlockType, config.Variable, settings.WorkspaceFile)
	}
	return found, err
}

// OfRun is the prefix of the ID of a run, where its set of plans can be named in place of a
// directory.
const OfRun = "run:"

// SetOfRun writes the set of plans of a run into a new directory, which the caller removes.
func (s *Session) SetOfRun(ctx context.Context, store *runs.Store, id string) (dir string, remove func(), err error) {
	plans, err := s.MakePlans()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(plans.Path(), "set")
	if err = os.Mkdir(dir, 0o700); err == nil {
		err = store.Set(ctx, id, dir)
	}
	if errors.Is(err, runs.ErrNoSet) {
		err = failure.Error("No set of plans", "There is no run %s with plans. \"cairn run plan -out=%s\" keeps them.", id, OfRun)
	}
	if err != nil {
		plans.Remove()
		return "", nil, err
	}
	return dir, plans.Remove, nil
}

// declaredWorkers reads the block in a workspace file, nil if there is none.
func (s *Session) declaredWorkers(file string) (*config.Config, error) {
	if os.Getenv(config.Variable) != "" {
		return nil, nil //nolint:nilnil // another file counts
	}
	content, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(content, []byte(config.BlockType)) { // most have none, and need not be read as HCL
		return nil, nil //nolint:nilnil,nilerr // commands about the file report that it cannot be read
	}
	read, diags := config.ReadDeclared(file, s.Files)
	if diags.HasErrors() {
		return nil, diags
	}
	return read, nil
}

// transport returns what carries components of a stack to workers; nil for none.
func (s *Session) transport(stackDir string, waiting func(component, pool string)) (remote.Transport, error) {
	found, err := s.WorkersOf(stackDir)
	if found == nil || err != nil {
		return nil, err
	}
	return components.New(components.Options{
		StackDir: stackDir, Version: buildinfo.Read().Protocol(),
		Connect: func(ctx context.Context) (*components.Connection, error) { return s.connectToPools(ctx, found) },
		Waiting: waiting,
	}), nil
}

// ConnectToWorkers connects with workers and records, and returns the key of who may start work.
// The queue shows this program under a name.
func (s *Session) ConnectToWorkers(ctx context.Context, found *config.Config, name string) (*connect.Connection, envelope.RunKey, error) {
	key, err := found.RunKey(os.Environ())
	if err != nil {
		return nil, key, err
	}
	opened, err := connect.Open(ctx, found, connect.Options{
		Environ: os.Environ(), Identity: name, Away: s.QueueAway, RecordsAway: s.RecordsAway,
	})
	return opened, key, err
}

// connectToPools connects with the workers of components. The connection ends with the program.
func (s *Session) connectToPools(ctx context.Context, found *config.Config) (*components.Connection, error) {
	opened, key, err := s.ConnectToWorkers(ctx, found, "cairn")
	if err != nil {
		return nil, err
	}
	return &components.Connection{Queue: opened.Queues, Records: opened.Records, Key: key, Pools: found.Recipients()}, nil
}

// QueueAway says that a queue of workers is away, or back.
func (s *Session) QueueAway(outage queue.Outage) {
	if outage.Over {
		s.Note("The queue at %s is back.\n", outage.Place)
		return
	}
	reason := ""
	if outage.Reason != "" {
		reason = ": " + safetext.Clean(outage.Reason)
	}
	s.Note("The queue at %s is away%s. Workers go on with what they have begun; waiting for it.\n", outage.Place, reason)
}

// RecordsAway says that the records of runs are away.
func (s *Session) RecordsAway(outage statestore.Outage) {
	s.Note("Waiting at most %s for the records in %s, which cannot be reached (%s).\n",
		outage.AtMost, outage.Location, safetext.Clean(outage.Reason.Error()))
}

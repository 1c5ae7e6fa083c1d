// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// touching is a session that has the state know which components are about to be changed by an
// engine that keeps its work in the working directory only.
type touching struct {
	engine.Session

	saver *deployment.Saver
}

// Apply implements [engine.Session].
func (s touching) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	if req.Planned.Engine.Name != native.Name {
		var resources []string
		for _, change := range req.Planned.Changes {
			if !change.IsNoOp() {
				resources = append(resources, change.Addr.String())
			}
		}
		slices.Sort(resources)
		if err := s.saver.Touch(ctx, req.Component, slices.Compact(resources)); err != nil {
			return nil, failure.Diagnostics(failure.Error("Component not applied", "What is about to be changed could not be recorded in the "+
				"state: %s.", failure.Reason(err)))
		}
	}
	return s.Session.Apply(ctx, req, observe)
}

// session returns the session for an apply that is saved.
func (r *recovery) session(session engine.Session, saver *deployment.Saver) engine.Session {
	if r.run.stack.states.File() != "" {
		return session
	}
	return touching{session, saver}
}

// directory returns the identity of the working directory, which has one from now on. A directory
// that is made in the place of a lost one has another.
func (r *recovery) directory() (string, error) {
	path := filepath.Join(r.run.stack.env.WorkDir, "identity")
	content, err := os.ReadFile(path)
	if err == nil && len(content) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return string(content), err
	}
	identity := rand.Text()
	err = durable.MakeDir(filepath.Dir(path), 0o700)
	if err == nil {
		err = durable.Replace(path, func(w io.Writer) error {
			_, err := io.WriteString(w, identity)
			return err
		})
	}
	return identity, err
}

// unknownWork returns work that stands for components that an apply was about to change whose
// working directory is lost.
func (r *recovery) unknownWork(found []*engine.Recovered) ([]*engine.Recovered, error) {
	if len(r.run.stored.CutOff) == 0 || r.run.stack.states.File() != "" {
		return nil, nil
	}
	directory, err := r.directory()
	if err != nil {
		return nil, err
	}
	lost := r.run.stored.LostWork(directory)
	var unknown []*engine.Recovered
	for _, component := range slices.Sorted(maps.Keys(lost)) {
		isFound := slices.ContainsFunc(found, func(recovered *engine.Recovered) bool { return recovered.Component == component })
		if !isFound && len(lost[component]) > 0 {
			unknown = append(unknown, inDoubt(component, lost[component], false))
		}
	}
	return unknown, nil
}

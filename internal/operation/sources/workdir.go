// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sources

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// The codes of a working directory that cannot be used: alone, or with lock files that cannot be
// written.
const (
	CodeWorkDir         fault.Code = "operation/work-dir"
	CodeWorkDirAndLocks fault.Code = "operation/work-dir-and-locks"
)

// PrepareWorkDir makes the working directory, and believes only caches that the user has put there.
func (s *Sources) PrepareWorkDir() error {
	if err := workdir.Make(s.env.WorkDir); err != nil {
		return s.unusableWorkDir(err)
	}
	if s.env.Getenv(env.DataVariable) != "" { // it is the user's
		return nil
	}
	removed, err := workdir.Own(s.env.WorkDir)
	if errors.Is(err, workdir.ErrNoKey) {
		s.env.Log.Info("caches are believed without a key", "reason", err.Error())
		return nil
	}
	if removed {
		s.env.Notify.Send(notice.CachesRemoved{Dir: s.env.WorkDir})
	}
	return err
}

// PrepareWaiting makes the directory of plans that wait for approval.
func (s *Sources) PrepareWaiting() error {
	if err := s.PrepareWorkDir(); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(s.env.WaitingPlan("")), 0o700)
}

// unusableWorkDir says how to work where the working directory cannot be written. In a read-only
// checkout, other things cannot be written either: they are all named at once, so that nobody comes
// upon one after the other.
func (s *Sources) unusableWorkDir(err error) hcl.Diagnostics {
	code := CodeWorkDir
	detail := fmt.Sprintf("cairn keeps source packages, and the engine's files, in the directory %s, "+
		"and nothing can be written there: %s. Name another directory for them with %s=DIR.",
		env.Absolute(s.env.WorkDir), failure.Reason(err), env.DataVariable)
	if place, err := states.Of(s.env, nil); err == nil && place.ReadOnly() {
		detail += fmt.Sprintf(" An apply cannot write the state %s either: name another place for it with %s=PATH.", env.Absolute(place.File()),
			env.StateVariable)
	}
	if !access.Writable(s.env.Dir) && s.mayNeedLocks() {
		code = CodeWorkDirAndLocks
		detail += fmt.Sprintf(" Lock files stay as they are there: "+
			"if %s or %s is not complete, have it completed where it can be written, and commit it.",
			locks.FileName, bundle.LockFileName)
	}
	return hcl.Diagnostics{failure.With(code, failure.New("Unusable working directory",
		"%s Or make the directory of the stack writable for this user, or copy the stack to one that is.", detail))}
}

// mayNeedLocks reports whether the stack may require something that lock files record. It does if
// the sources are not all there yet.
func (s *Sources) mayNeedLocks() bool {
	config, diags := s.Config()
	if config == nil || diags.HasErrors() {
		return true
	}
	for provider := range config.Requirements() {
		if !provider.IsBuiltin() {
			return true
		}
	}
	return false
}

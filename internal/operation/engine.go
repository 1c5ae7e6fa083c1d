// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// CodeWorkDir is of a working directory that cannot be used.
const CodeWorkDir fault.Code = "operation/work-dir"

// Engines are those by which the stack can be worked on, and the choice among them.
func (s *Stack) Engines() *engines.Stack { return s.engines }

func (s *Stack) newEngines() *engines.Stack {
	return engines.Of(engines.Options{
		Dir: s.dir, Home: s.opts.Home, WorkDir: s.work, Environ: s.environ,
		Named: s.opts.Engine, NamedBy: s.opts.EngineFrom, Given: s.opts.ModulesEngine, ChangesNothing: s.opts.ChangesNothing,
		Settings: s.Settings, Config: s.config, Resolver: s.Resolver, RunsDir: s.runsDir, PrepareWorkDir: s.prepareWorkDir, FromEnviron: s.fromEnviron,
		Shared: &s.opts.Shared.engines, Fetching: s.observeProviders(), Notify: s.opts.Notify, Log: s.log,
	})
}

// openSession opens a session of the engine, without having prepared anything for it. It is closed
// with the stack.
func (s *Stack) openSession(ctx context.Context) (engine.Session, error) {
	if s.session != nil {
		return s.session, nil
	}
	chosen := s.opts.ModulesEngine
	if chosen == nil {
		var err error
		if chosen, err = s.engines.Open(ctx); err != nil {
			return nil, err
		}
	}
	parallelism := s.parallelism
	if parallelism == 0 {
		read, err := s.Settings()
		if err != nil {
			return nil, err
		}
		parallelism = read.Parallelism
	}
	opened, err := chosen.Open(ctx, engine.SessionOptions{StackDir: s.dir, Parallelism: parallelism})
	if err != nil {
		return nil, engines.Unusable(err)
	}
	s.session = opened
	return opened, nil
}

// prepareWorkDir makes the working directory, and believes only caches that the user has put there.
func (s *Stack) prepareWorkDir() error {
	if err := workdir.Make(s.work); err != nil {
		return s.unusableWorkDir(err)
	}
	if s.getenv(DataVariable) != "" { // it is the user's
		return nil
	}
	removed, err := workdir.Own(s.work)
	if errors.Is(err, workdir.ErrNoKey) {
		s.log.Info("caches are believed without a key", "reason", err.Error())
		return nil
	}
	if removed {
		s.opts.Notify.Send(notice.CachesRemoved{Dir: s.work})
	}
	return err
}

// unusableWorkDir says how to work where the working directory cannot be written. In a read-only
// checkout, other things cannot be written either: they are all named at once, so that nobody comes
// upon one after the other.
func (s *Stack) unusableWorkDir(err error) hcl.Diagnostics {
	detail := fmt.Sprintf("cairn keeps source packages, and the engine's files, in the directory %s, and nothing can be written there: %s. "+
		"Name another directory for them with %s=DIR.", absolute(s.work), failure.Reason(err), DataVariable)
	if state := s.readOnlyState(); state != "" {
		detail += fmt.Sprintf(" An apply cannot write the state %s either: name another place for it with %s=PATH.", absolute(state), StateVariable)
	}
	if !access.Writable(s.dir) && s.mayNeedLocks() {
		detail += fmt.Sprintf(" Lock files stay as they are there: if %s or %s is not complete, run \"cairn init\" where it can be written, and commit it.",
			LockFile, bundle.LockFileName)
	}
	return hcl.Diagnostics{failure.WithCode(CodeWorkDir, failure.New("Unusable working directory",
		"%s Or make the directory of the stack writable for this user, or copy the stack to one that is.", detail))}
}

// readOnlyState returns the path of a state in a file that this process can neither change nor
// make, "" for any other state.
func (s *Stack) readOnlyState() string {
	path := s.StateFile()
	_, err := os.Stat(path)
	if path == "" || access.Writable(filepath.Dir(path)) && (errors.Is(err, fs.ErrNotExist) || access.Writable(path)) {
		return ""
	}
	return path
}

// mayNeedLocks reports whether the stack may require something that lock files record. It does if
// the sources are not all there yet.
func (s *Stack) mayNeedLocks() bool {
	config, diags := s.config()
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

// openIdle returns a session that may only be able to read modules, and to list the applies that it
// keeps: no engine is looked for. It is closed with the stack, or needs not be closed.
func (s *Stack) openIdle(ctx context.Context) (engine.Session, error) {
	if s.session != nil || s.opts.ModulesEngine != nil {
		return s.openSession(ctx)
	}
	return s.engines.Sources(nil), nil
}

// KeptSchemas returns the cached schemas of installed providers without starting or reading
// anything of them.
func (s *Stack) KeptSchemas(ctx context.Context) map[stackaddrs.Provider]*engines.Kept {
	return engines.KeptSchemas(ctx, absolute(s.dir), absolute(s.work))
}

// LastEngine names the engine that the stack was last used with, if that is known.
func (s *Stack) LastEngine() engine.Info { return engines.Last(absolute(s.work)) }

// keptApplies returns the components of applies that were begun with the state of a secret, and
// whose changes a session keeps, sorted.
func keptApplies(ctx context.Context, session engine.Session, secret []byte) ([]string, error) {
	keeper := session.Abilities().Keeper
	if keeper == nil {
		return nil, nil
	}
	return keeper.Kept(ctx, secret)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Open returns the engine that the settings name.
func (s *Stack) Open(ctx context.Context) (engine.Engine, error) {
	kind := s.Kind()
	if _, err := s.opts.Settings(); err != nil {
		return nil, err
	}
	if kind == "" {
		return s.openBinary(ctx)
	}
	found, err := s.OpenNative()
	if err != nil || kind == Native {
		return found, err
	}
	return auto.New(auto.Options{
		Native: found,
		Binary: func(ctx context.Context) (engine.Engine, error) { return s.openBinary(ctx) },
		Left:   s.hasRuns,
	}), nil
}

// Reader returns the engine as which modules are read, as far as it is known.
func (s *Stack) Reader(ctx context.Context) engine.Info {
	if s.Kind() != "" {
		return engine.Info{Name: Native}
	}
	if found, err := s.findBinary(ctx); err == nil { // otherwise prepare reports the error
		return found.Info
	}
	return engine.Info{}
}

// defaultProviderProcesses is enough for most stacks, whose configurations of providers are few,
// and bounds the memory of the others: a large provider takes 600 MB.
const defaultProviderProcesses = 16

// OpenNative returns the native engine.
func (s *Stack) OpenNative() (engine.Engine, error) {
	runs, err := s.opts.RunsDir()
	if err != nil {
		return nil, err
	}
	read, err := s.opts.Settings()
	if err != nil {
		return nil, err
	}
	if err := s.opts.PrepareWorkDir(); err != nil {
		return nil, err
	}
	s.noteLog()
	opened, err := native.New(native.Options{
		WorkDir: s.opts.WorkDir, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.opts.Resolver(), Environ: s.opts.Environ, Dir: s.opts.Dir, Shared: &s.opts.Shared.Native,
		MaxProcesses: cmp.Or(read.ProviderProcesses, defaultProviderProcesses),
		Working:      func(what string) { s.opts.Notify.Send(notice.Working{What: what}) },
		Fetching:     s.opts.Fetching,
	})
	if err != nil {
		return nil, Unusable(err)
	}
	return opened, nil
}

// noteLog says where the log of the engine goes, unless the user does. It is said once of each
// file.
func (s *Stack) noteLog() {
	if !enginelog.Read(s.opts.Environ).InWorkDir() {
		return
	}
	file := filepath.Join(s.opts.WorkDir, enginelog.FileName)
	key := file
	if absolute, err := filepath.Abs(file); err == nil {
		key = absolute
	}
	if _, said := s.opts.Shared.logs.LoadOrStore(key, true); !said {
		s.opts.Notify.Send(notice.EngineLog{File: file})
	}
}

// hasRuns reports whether a binary has left something of applies that were cut off.
func (s *Stack) hasRuns() bool {
	runs, err := s.opts.RunsDir()
	return err == nil && rundir.Any(runs)
}

func (s *Stack) openBinary(ctx context.Context) (*binary.Engine, error) {
	runs, err := s.opts.RunsDir()
	if err != nil {
		return nil, err
	}
	found, err := s.findBinary(ctx)
	if err != nil {
		return nil, err
	}
	s.noteLog()
	opened, err := binary.New(ctx, binary.Options{
		Binary: found.Path, WorkDir: s.opts.WorkDir, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.opts.Resolver(),
		Environ: s.opts.Environ, Dir: s.opts.Dir, Shared: &s.opts.Shared.Binary,
		Working:  func(what string) { s.opts.Notify.Send(notice.Working{What: what}) },
		Fetching: s.opts.Fetching,
		Log:      s.opts.Log,
	})
	if err != nil {
		return nil, Unusable(err)
	}
	return opened, nil
}

// Sources returns a session that reads modules as the engine does that was found, and starts no
// process.
func (s *Stack) Sources(resolver stackconfig.Resolver) engine.Session {
	opts := binary.SourceOptions{StackDir: s.opts.Dir, Resolver: resolver, Parsed: &s.opts.Shared.Binary.Modules}
	if runs, err := s.opts.RunsDir(); err == nil { // else work on the state reports it
		opts.RunsDir = runs
	}
	switch { // the files of modules, and their language, depend on it
	case s.Kind() != "":
		opts.Info, opts.AnyVersion = engine.Info{Name: Native}, true // the native engine itself reports unsupported modules
	case s.found != nil:
		opts.Info = s.found.Info
	}
	return binary.NewSourceSession(opts)
}

// Kept is the cached schema of a provider.
type Kept = binary.Kept

// KeptOf returns the schema of a provider in the form of the cached ones.
func KeptOf(found *schema.Provider) *Kept {
	return &Kept{Schema: native.Described(found), Functions: found.Functions}
}

// KeptSchemas returns the cached schemas of installed providers without starting or reading
// anything of them.
func KeptSchemas(ctx context.Context, dir, workDir string) map[stackaddrs.Provider]*Kept {
	return binary.KeptSchemas(ctx, binary.KeptOptions{StackDir: dir, WorkDir: workDir, SchemaDir: SchemaDir()})
}

// Last names the engine that a working directory was last used with, if that is known.
func Last(workDir string) engine.Info {
	if engines := toolchain.Remembered(binary.RecordFile(workDir)); len(engines) > 0 {
		return engines[0]
	}
	return engine.Info{}
}

// KeptByNative returns the components, sorted, of applies by the native engine that were begun with
// the state of a secret, and whose changes it keeps.
func (s *Stack) KeptByNative(ctx context.Context, secret []byte) ([]string, error) {
	runs, err := s.opts.RunsDir()
	if err != nil {
		return nil, err
	}
	return native.Kept(ctx, runs, secret)
}

// SchemaDir is where schemas of providers are kept for all stacks of the user, empty if the system
// has no place for that.
func SchemaDir() string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(caches, "cairn", "schemas")
}

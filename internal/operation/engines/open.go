// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Open returns the engine that the settings name, or that of the caller.
func (s *Stack) Open(ctx context.Context) (engine.Engine, error) {
	if s.request.Given != nil {
		return s.request.Given, nil
	}
	kind := s.Kind()
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	if kind == "" {
		if len(read.Pools) > 0 {
			return nil, noPools(read.Pools[0])
		}
		return s.openBinary(ctx)
	}
	opened, err := kinds[kind].open(ctx, s)
	if err != nil {
		return nil, err
	}
	return s.withPools(opened)
}

// Reader returns the engine as which modules are read, as far as it is known.
func (s *Stack) Reader(ctx context.Context) engine.Info {
	if kind := kinds[s.Kind()]; kind != nil {
		return kind.reader
	}
	if found, err := s.findBinary(ctx); err == nil { // otherwise prepare reports the error
		return found.Info
	}
	return engine.Info{}
}

// OpenInstaller returns an engine that installs providers as the chosen one does, and is there
// without a program: the native one in place of terraform. It is nil if only the chosen one can.
func (s *Stack) OpenInstaller(ctx context.Context) (engine.Engine, error) {
	if s.request.Given != nil || s.Kind() != "" || s.Reader(ctx).Name == toolchain.Tofu {
		return nil, nil
	}
	return s.openNative()
}

// noteLog says where the log of the engine goes, unless the user does. It is said once of each
// file.
func (s *Stack) noteLog() {
	if !enginelog.Read(s.env.Environ).InWorkDir() {
		return
	}
	file := filepath.Join(s.env.WorkDir, enginelog.FileName)
	key := file
	if absolute, err := filepath.Abs(file); err == nil {
		key = absolute
	}
	if _, said := s.shared.logs.LoadOrStore(key, true); !said {
		s.env.Notify.Send(notice.EngineLog{File: file})
	}
}

// Sources returns a session that reads modules as the engine does that was found, and starts no
// process.
func (s *Stack) Sources(resolver stackconfig.Resolver) engine.Session {
	opts := binary.SourceOptions{StackDir: s.env.Dir, Resolver: resolver, Constants: s.sources.Constants, Parsed: &s.shared.Binary.Modules}
	if runs, err := s.sources.RunsDir(); err == nil { // else work on the state reports it
		opts.RunsDir = runs
	}
	switch { // the files of modules, and their language, depend on it
	case s.Kind() != "":
		opts.Info, opts.AnyVersion = kinds[s.Kind()].reader, true // the engine itself reports unsupported modules
	case s.search.found != nil:
		opts.Info = s.search.found.Info
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
func (s *Stack) KeptSchemas(ctx context.Context) map[stackaddrs.Provider]*Kept {
	return binary.KeptSchemas(ctx, binary.KeptOptions{
		StackDir: env.Absolute(s.env.Dir), WorkDir: env.Absolute(s.env.WorkDir),
		SchemaDir: SchemaDir(),
	})
}

// Last names the engine that the stack was last used with, if that is known.
func (s *Stack) Last() engine.Info {
	if engines := toolchain.Remembered(binary.RecordFile(env.Absolute(s.env.WorkDir))); len(engines) > 0 {
		return engines[0]
	}
	return engine.Info{}
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

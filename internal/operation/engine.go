// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/settings"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// CodeWorkDir is of a working directory that cannot be used.
const CodeWorkDir failure.Code = "operation/work-dir"

// openSession opens a session of the engine, without having prepared anything for it. It is closed with the stack.
func (s *Stack) openSession(ctx context.Context) (engine.Session, error) {
	if s.session != nil {
		return s.session, nil
	}
	chosen := s.opts.ModulesEngine
	if chosen == nil {
		var err error
		if chosen, err = s.openEngine(ctx); err != nil {
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
		return nil, EngineError(err)
	}
	s.session = opened
	return opened, nil
}

// NativeEngine and AutoEngine are settings of an engine that are not binaries: the one that evaluates modules in this process, and the one that leaves to a binary
// what the native one does not support.
const (
	NativeEngine = native.Name
	AutoEngine   = "auto"
)

// usualEngine is the setting if nobody names an engine; "" is a binary that is looked for.
const usualEngine = ""

// engineKind returns the setting of an engine that is not a binary, or "".
func (s *Stack) engineKind() string {
	_, _ = s.Settings() //nolint:errcheck // they are reported where an engine is opened
	setting, _ := s.EngineSetting()
	switch cmp.Or(setting, usualEngine) {
	case NativeEngine:
		return NativeEngine
	case AutoEngine:
		return AutoEngine
	default:
		return ""
	}
}

// openEngine returns the engine that the settings name.
func (s *Stack) openEngine(ctx context.Context) (engine.Engine, error) {
	if _, err := s.Settings(); err != nil {
		return nil, err
	}
	kind := s.engineKind()
	if kind == "" {
		return s.openBinary(ctx)
	}
	found, err := s.openNative()
	if err != nil || kind == NativeEngine {
		return found, err
	}
	return auto.New(auto.Options{
		Native: found,
		Binary: func(ctx context.Context) (engine.Engine, error) { return s.openBinary(ctx) },
	}), nil
}

func (s *Stack) openNative() (engine.Engine, error) {
	runs, err := s.runsDir()
	if err != nil {
		return nil, err
	}
	if err := s.prepareWorkDir(); err != nil {
		return nil, err
	}
	opened, err := native.New(native.Options{
		WorkDir: s.work, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.Resolver(), Environ: s.environ, Dir: s.dir, Shared: &s.opts.Shared.native,
		Working:  func(what string) { s.opts.Notify.Send(notice.Working{What: what}) },
		Fetching: s.observeProviders(),
	})
	if err != nil {
		return nil, EngineError(err)
	}
	return opened, nil
}

// prepareWorkDir makes the working directory, and believes only what the user has put there.
func (s *Stack) prepareWorkDir() error {
	if err := makeWorkDir(s.work); err != nil {
		return hcl.Diagnostics{failure.WithCode(CodeWorkDir, failure.New("Unusable working directory",
			"cairn keeps the engine's files in the directory %s, and nothing can be written there: %s. "+
				"Name another directory for them with %s=DIR, make the directory of the stack writable for this user, or copy the stack to one that is.",
			absolute(s.work), failure.Reason(err), DataVariable))}
	}
	return s.ownWorkDir(s.work)
}

// moduleReader returns the engine as which modules are read, as far as it is known.
func (s *Stack) moduleReader(ctx context.Context) engine.Info {
	if s.engineKind() != "" {
		return engine.Info{Name: NativeEngine}
	}
	if found, err := s.findBinary(ctx); err == nil { // otherwise prepare reports the error
		return found.Info
	}
	return engine.Info{}
}

func (s *Stack) openBinary(ctx context.Context) (*binary.Engine, error) {
	runs, err := s.runsDir()
	if err != nil {
		return nil, err
	}
	found, err := s.findBinary(ctx)
	if err != nil {
		return nil, err
	}
	if s.getenv("TF_LOG") != "" && s.getenv("TF_LOG_PATH") == "" {
		s.opts.Notify.Send(notice.EngineLog{File: filepath.Join(s.work, runner.LogFile)})
	}
	opened, err := binary.New(ctx, binary.Options{
		Binary: found.Path, WorkDir: s.work, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.Resolver(),
		Environ: s.environ, Dir: s.dir, Shared: s.opts.Shared.OfEngines(),
		Working: func(what string) { s.opts.Notify.Send(notice.Working{What: what}) },
		Log:     s.log,
	})
	if err != nil {
		return nil, EngineError(err)
	}
	return opened, nil
}

// openIdle returns a session that may be able to do nothing but to read modules, and to say what it keeps: no engine is looked for. It is closed with the stack,
// or needs not be closed.
func (s *Stack) openIdle(ctx context.Context) (engine.Session, error) {
	if s.session != nil || s.opts.ModulesEngine != nil {
		return s.openSession(ctx)
	}
	return s.openSources(nil), nil
}

// openSources returns a session that reads modules as the engine does that was found, and starts no process.
func (s *Stack) openSources(resolver stackconfig.Resolver) engine.Session {
	opts := binary.SourceOptions{StackDir: s.dir, Resolver: resolver, Parsed: &s.opts.Shared.engines.Modules}
	if runs, err := s.runsDir(); err == nil { // else who needs the state reports it
		opts.RunsDir = runs
	}
	if s.binary != nil {
		opts.Info = s.binary.Info // which files modules have depends on it
	}
	return binary.NewSourceSession(opts)
}

// KeptProvider is what is known of a provider.
type KeptProvider = binary.Kept

func keptSchemas(ctx context.Context, dir, workDir string) map[stackaddrs.Provider]*binary.Kept {
	return binary.KeptSchemas(ctx, binary.KeptOptions{StackDir: dir, WorkDir: workDir, SchemaDir: SchemaDir()})
}

func lastEngine(workDir string) engine.Info {
	if engines := toolchain.Remembered(binary.RecordFile(workDir)); len(engines) > 0 {
		return engines[0]
	}
	return engine.Info{}
}

// keptApplies returns the components of applies that were begun with the state of a secret, and of which a session keeps what was done, sorted.
func keptApplies(ctx context.Context, session engine.Session, secret []byte) ([]string, error) {
	keeper := session.Abilities().Keeper
	if keeper == nil {
		return nil, nil
	}
	return keeper.Kept(ctx, secret)
}

// SchemaDir is where schemas of providers are kept for all stacks of the user, empty if the system has no place for that.
func SchemaDir() string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(caches, "cairn", "schemas")
}

// findBinary returns the binary to use.
func (s *Stack) findBinary(ctx context.Context) (*toolchain.Candidate, error) {
	if s.binary != nil || s.binaryErr != nil {
		return s.binary, s.binaryErr
	}
	search, err := s.EngineSearch()
	if err != nil {
		return nil, err
	}
	if err := s.prepareWorkDir(); err != nil {
		return nil, err
	}
	search.Identifier.RecordFile = binary.RecordFile(s.work)
	found, err := search.Find(ctx)
	if err != nil {
		s.binaryErr = EngineError(err) // whoever asks again would wait for an engine that hangs once more
		return nil, s.binaryErr
	}
	s.log.Info("engine", "path", found.Path, "origin", string(found.Origin), "name", found.Info.Name, "version", found.Info.Version)
	s.binary, s.warnings = found, s.UnmetRequirements(found)
	return found, nil
}

// takeWarnings returns those about the choice of the engine, once: here or with what was prepared.
func (s *Stack) takeWarnings() hcl.Diagnostics {
	warnings := s.warnings
	s.warnings = nil
	return warnings
}

// EngineSetting returns the path or name of the binary that was asked for, and who has named it; empty if nobody has.
func (s *Stack) EngineSetting() (setting, from string) {
	switch {
	case s.opts.Engine != "":
		return s.opts.Engine, s.opts.EngineFrom
	case s.getenv(EngineVariable) != "":
		return s.program(s.getenv(EngineVariable)), EngineVariable
	case s.settings != nil && s.settings.Engine.Binary != "":
		return s.program(s.settings.Engine.Binary), settings.File
	}
	return "", ""
}

// program makes a path of one that is relative to the stack. The name of a program is left as it is.
func (s *Stack) program(setting string) string {
	if !strings.ContainsRune(setting, filepath.Separator) {
		return setting
	}
	return s.fromEnviron(setting)
}

// engineChosenBy says what names an engine or its version, empty for nothing but the version file.
func (s *Stack) engineChosenBy() string {
	if _, from := s.EngineSetting(); from != "" {
		return from + " names it"
	}
	if s.settings != nil && s.settings.Engine.Requirement != nil {
		return s.settings.Engine.Requirement.Place + " says which version is used"
	}
	return ""
}

// EngineRequirements returns what the stack requires of the engine.
//
// The version file was written for other programs. It is advice to those who choose the engine for cairn, and for operations that change nothing.
func (s *Stack) EngineRequirements() ([]toolchain.Requirement, error) {
	read, err := s.Settings()
	if err != nil {
		return nil, err
	}
	var all []toolchain.Requirement
	if required := read.Engine.Requirement; required != nil {
		all = append(all, *required)
	}
	if required := settings.ReadVersionFile(s.dir); required != nil {
		required.Advisory = s.opts.ChangesNothing || s.engineChosenBy() != ""
		all = append(all, *required)
	}
	return all, nil
}

// EngineSearch says which binary is wanted.
func (s *Stack) EngineSearch() (toolchain.Search, error) {
	required, err := s.EngineRequirements()
	if err != nil {
		return toolchain.Search{}, err
	}
	search := toolchain.Search{Requirements: required, Identifier: toolchain.Identifier{Environ: s.environ, Known: &s.opts.Shared.binaries}}
	setting, from := s.EngineSetting()
	if s.engineKind() != "" {
		setting, from = "", "" // none of the binaries is named
	}
	if from == settings.File {
		if err := s.checkTrust(s.settings.Engine.Binary); err != nil {
			return toolchain.Search{}, err
		}
	}
	search.Setting = setting
	if home, err := toolchain.Home(); err == nil { // without one nothing is installed
		search.Home = home
	}
	return search, nil
}

// UnmetRequirements warns of what the engine in use does not meet.
func (s *Stack) UnmetRequirements(found *toolchain.Candidate) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, unmet := range found.Unmet {
		by := s.engineChosenBy()
		warning := failure.Warning("Ignored version file", "%s It is used all the same, since %s.",
			failure.Sentences(unmet.Error()), cmp.Or(by, "this command changes nothing; those that do stop here"))
		if by == "" {
			warning.Extra = failure.Cause{Err: unmet}
		}
		diags = diags.Append(warning)
	}
	return diags
}

// EngineError makes a diagnostic of the reason why there is no engine to use. The reason is its [failure.Cause].
func EngineError(err error) error {
	var tooOld *toolchain.TooOldError
	var unaccepted *toolchain.UnacceptedError
	diag := failure.New("Unusable engine", "%s.", failure.Capitalize(failure.Reason(err)))
	switch {
	case errors.As(err, &unaccepted):
		diag = failure.New("Unacceptable engine version", "%s", failure.Sentences(err.Error()))
		if unaccepted.Requirement.Invalid != "" {
			diag.Summary = "Invalid version file"
		}
		diag.Subject = unaccepted.Requirement.Range
	case errors.As(err, &tooOld):
		diag = failure.New("Engine too old", "%s", failure.Sentences(err.Error()))
	case errors.Is(err, toolchain.ErrNone), errors.As(err, new(*toolchain.NotFoundError)):
		diag = failure.New("Engine not found", "%s", failure.Sentences(err.Error()))
	}
	diag.Extra = failure.Cause{Err: err}
	return hcl.Diagnostics{diag}
}

// VersionFileIgnored says so if there is a version file that is not about the program in use.
func (s *Stack) VersionFileIgnored(program string) string {
	if _, err := os.Stat(s.join(settings.VersionFile)); err != nil || program != toolchain.Tofu {
		return ""
	}
	return fmt.Sprintf("The file %s is about terraform and does not count for tofu; say in %s what is required of tofu.", settings.VersionFile, settings.File)
}

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

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/settings"
	"github.com/cairnstacks/cairn/internal/operation/trust"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
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

func (s *Stack) openNative() (engine.Engine, error) {
	runs, err := s.runsDir()
	if err != nil {
		return nil, err
	}
	if err := s.prepareWorkDir(); err != nil {
		return nil, err
	}
	s.noteLog()
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

// noteLog says where the log of the engine goes, unless the user does. It is said once of each file.
func (s *Stack) noteLog() {
	if !enginelog.Read(s.environ).InWorkDir() {
		return
	}
	file := filepath.Join(s.work, enginelog.FileName)
	if _, said := s.opts.Shared.logs.LoadOrStore(absolute(file), true); !said {
		s.opts.Notify.Send(notice.EngineLog{File: file})
	}
}

// prepareWorkDir makes the working directory, and believes only what the user has put there.
func (s *Stack) prepareWorkDir() error {
	if err := workdir.Make(s.work); err != nil {
		return hcl.Diagnostics{failure.WithCode(CodeWorkDir, failure.New("Unusable working directory",
			"cairn keeps the engine's files in the directory %s, and nothing can be written there: %s. "+
				"Name another directory for them with %s=DIR, make the directory of the stack writable for this user, or copy the stack to one that is.",
			absolute(s.work), failure.Reason(err), DataVariable))}
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

// hasRuns reports whether a binary has left something of applies that were cut off.
func (s *Stack) hasRuns() bool {
	runs, err := s.runsDir()
	return err == nil && binary.HasRuns(runs)
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
	s.noteLog()
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

// keptByNative is keptApplies for those of the native engine.
func (s *Stack) keptByNative(ctx context.Context, secret []byte) ([]string, error) {
	runs, err := s.runsDir()
	if err != nil {
		return nil, err
	}
	return native.Kept(ctx, runs, secret)
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

// program makes a path of one that is relative to the stack. The name of a program is left as it is.
func (s *Stack) program(setting string) string {
	if !strings.ContainsRune(setting, filepath.Separator) {
		return setting
	}
	return s.fromEnviron(setting)
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
	setting = cmp.Or(setting, s.plannedBinary)
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
	var unwritten *enginelog.FileError
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
	case errors.As(err, &unwritten) && unwritten.Named:
		diag = failure.New("Log file not written", "The file that %s names cannot be written: %s.", enginelog.PathVariable, failure.Reason(unwritten.Err))
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

// CodeUntrusted is of a program that the user has not named.
const CodeUntrusted failure.Code = "operation/untrusted-program"

// checkTrust fails if the settings file names a program that whoever has written the file may have brought along. Every command that needs an
// engine runs it, "validate" too; a file that came with a checkout is not a decision of the user's.
func (s *Stack) checkTrust(binary string) error {
	if binary == "" {
		return nil
	}
	from := trust.Untrusted(binary, s.dir, s.opts.Home)
	if from == "" {
		return nil
	}
	return hcl.Diagnostics{failure.WithCode(CodeUntrusted, failure.New("Untrusted engine program",
		"The file %s names the program %q as the engine, and the file %s: whoever has written it could have any program run. "+
			"Nothing was run. If you trust it, name it yourself: %[4]s=%[2]s in the environment.", settings.File, binary, from, EngineVariable))}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/engines"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/internal/userfile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// workDir holds what the engine keeps between commands, beside the stack unless dataVariable names another place.
const workDir = ".cairn"

// dataVariable is the environment variable that names a directory for what is kept in workDir otherwise. No setting of a checkout does: where
// files go, and from where runs are recovered, is for the user to say.
const dataVariable = "CAIRN_DATA_DIR"

// dataDir is the working directory. Below the one that the user names, each stack has its own, whatever else is run with that variable.
func dataDir() string {
	dir := os.Getenv(dataVariable)
	if dir == "" {
		return workDir
	}
	stack := currentDir()
	if resolved, err := filepath.EvalSymlinks(stack); err == nil {
		stack = resolved
	}
	sum := sha256.Sum256([]byte(stack))
	return filepath.Join(dir, fmt.Sprintf("%s-%x", filepath.Base(stack), sum[:6]))
}

// session is one run of a command: what it was given, and what it has opened so far.
type session struct {
	streams Streams
	deps    dependencies
	options globalOptions

	files    map[string]*hcl.File // sources of diagnostics, by the name in ranges
	settings *settings.Settings
	loaded   *loadedConfig
	bundle   *bundle.Bundle  // nil until source packages are needed
	fetcher  *bundle.Fetcher // set while they are fetched
	engine   preparedEngine
	workDir  string // for the engine, if it is not to be the usual one

	changesNothing bool               // the command does not even plan
	binary         *engines.Candidate // nil until it is looked for
	engineWarnings hcl.Diagnostics    // about the choice of the engine, until they are reported

	// deploymentName is whose state, lock and interrupted applies these are. It is known when the store or the engine is open.
	deploymentName string
	opened         *deployment.Deployment // nil until the store is open

	input *bufio.Reader // of answers, nil until the first question

	live atomic.Pointer[live.Display] // set while it is drawn on a terminal

	lost atomic.Pointer[error] // what kept output from being written, if anything did

	log     *slog.Logger // of cairn itself, see openLog
	logFile io.Closer    // nil unless it is in a file

	// reporter shows diagnostics. How depends on the command and its options.
	reporter func(hcl.Diagnostics) error
}

// loadedConfig is the configuration with what was found wrong with it.
type loadedConfig struct {
	config *stackconfig.Config
	diags  hcl.Diagnostics
}

// preparedEngine is what commands need of an engine, beside what the runtime needs.
type preparedEngine interface {
	engine.Engine
	Unsupported(moduleDirs []string) hcl.Diagnostics
	Prepare(ctx context.Context, req tfengine.PrepareRequest) hcl.Diagnostics
	Locks() (map[stackaddrs.Provider]string, error)
	Recover(ctx context.Context) ([]*tfengine.Recovered, error)
	BindRuns(secret []byte)
}

// dependencies are replaced by tests. Zero values stand for the real ones.
type dependencies struct {
	openEngine func(stackDir, workDir string) (preparedEngine, error)
	exit       func(status int)
	guard      *signalGuard // nil where signals are not for this program
}

func newSession(streams Streams, deps dependencies) *session {
	s := &session{streams: streams, deps: deps, files: map[string]*hcl.File{}}
	s.reporter = s.reportText
	s.log = slog.New(slog.DiscardHandler)
	return s
}

// close releases what was opened. What can still go wrong here, no user can do anything about: all that matters
// was saved before.
func (s *session) close() {
	if s.opened != nil {
		_ = s.opened.Store.Close() //nolint:errcheck // see above
	}
	if closer, ok := s.engine.(io.Closer); ok {
		_ = closer.Close() //nolint:errcheck // see above
	}
	if s.logFile != nil {
		_ = s.logFile.Close() //nolint:errcheck // see above
	}
}

// stdout writes what was asked for.
func (s *session) stdout(format string, args ...any) {
	if live := s.live.Load(); live != nil {
		live.Print(fmt.Sprintf(format, args...))
		return
	}
	if _, err := fmt.Fprintf(s.streams.Out, format, args...); err != nil {
		s.lost.CompareAndSwap(nil, &err)
	}
}

// line writes a line of the output. Texts from elsewhere, such as names of directories, stay on it, and steer no terminal.
func (s *session) line(format string, texts ...string) { s.stdout("%s\n", inLine(format, texts)) }

// noteLine is line for what accompanies the output.
func (s *session) noteLine(format string, texts ...string) { s.note("%s\n", inLine(format, texts)) }

func inLine(format string, texts []string) string {
	args := make([]any, len(texts))
	for i, text := range texts {
		args[i] = textstyle.Name(text)
	}
	return fmt.Sprintf(format, args...)
}

// note writes what accompanies it. It goes to standard error, so that the output can be used by programs.
func (s *session) note(format string, args ...any) {
	text := fold(s.streams.Err, fmt.Sprintf(format, args...))
	if live := s.live.Load(); live != nil {
		live.Print(text)
		return
	}
	fmt.Fprint(s.streams.Err, text)
}

// say writes sentences to standard output.
func (s *session) say(format string, args ...any) {
	s.stdout("%s", fold(s.streams.Out, fmt.Sprintf(format, args...)))
}

// fold breaks long lines where a terminal would do it within words.
func fold(w io.Writer, text string) string {
	if !isTerminal(w) {
		return text
	}
	return textstyle.Fold(text, terminalSize(w).Width)
}

// report shows diagnostics.
func (s *session) report(diags hcl.Diagnostics) error { return s.reporter(withRemedies(diags)) }

// fail shows an error.
func (s *session) fail(err error) {
	if reportErr := s.report(asDiagnostics(err)); reportErr != nil {
		fmt.Fprintln(s.streams.Err, err)
	}
}

// finish shows the diagnostics of a whole command and returns its exit code.
func (s *session) finish(diags hcl.Diagnostics) (int, error) {
	if err := s.report(diags); err != nil {
		return 0, err
	}
	if diags.HasErrors() {
		return exitError, nil
	}
	return exitOK, nil
}

// reportText shows diagnostics to a person.
func (s *session) reportText(diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	return views.WriteDiagnostics(s.streams.Err, diags, s.sources(), s.viewOptions(s.streams.Err))
}

// sources finds the text that diagnostics are about.
func (s *session) sources() diagnostic.Sources {
	return diagnostic.Sources{Files: s.files, Lookup: func(name string) []byte {
		path := filepath.FromSlash(name)
		if inPackage, ok := s.packagePath(name); ok {
			path = inPackage
		}
		src, err := userfile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), hclsource.MaxSize)
		if err != nil {
			return nil // shown without its source
		}
		return src
	}}
}

// viewOptions say how to write for people to a stream. Where that is no terminal, COLUMNS may tell the width.
func (s *session) viewOptions(w io.Writer) views.Options {
	var options views.Options
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		options.Width = columns
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return options
	}
	options.Color = !s.options.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		options.Width = width
	}
	return options
}

// inputIsTerminal tells whether there is someone to ask.
func (s *session) inputIsTerminal() bool {
	return isTerminal(s.streams.In)
}

// readSettings returns the settings of the stack.
func (s *session) readSettings() (settings.Settings, error) {
	if s.settings == nil {
		read, diags := settings.Read(".", s.files)
		if diags.HasErrors() {
			return settings.Settings{}, diags
		}
		s.settings = &read
	}
	return *s.settings, nil
}

// loadConfig returns the configuration in the current directory. With errors it may be nil, or hold what could be
// understood.
func (s *session) loadConfig() (*stackconfig.Config, hcl.Diagnostics) {
	if s.loaded == nil {
		return s.loadConfigWith(s.packages())
	}
	return s.loaded.config, s.loaded.diags
}

// loadConfigWith loads the configuration, also if it was loaded before.
func (s *session) loadConfigWith(resolver stackconfig.Resolver) (*stackconfig.Config, hcl.Diagnostics) {
	config, diags := stackconfig.LoadWith(".", stackconfig.LoadOptions{Resolver: resolver})
	if config != nil {
		for name, file := range config.Files {
			s.files[name] = file
		}
		if len(config.Files) == 0 && !diags.HasErrors() {
			diags = diags.Append(problem("No configuration files",
				"There are no .tfcomponent.hcl or .tfcomponent.json files in %s. "+
					"Go to the directory of a stack, or name it with -chdir=DIR.", currentDir()))
		}
	}
	s.loaded = &loadedConfig{config, diags}
	return s.loaded.config, s.loaded.diags
}

// currentDir names the current directory for messages.
func currentDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "the current directory"
	}
	return dir
}

// openEngine returns the engine, without having prepared anything for it.
func (s *session) openEngine() (preparedEngine, error) {
	if s.engine != nil {
		return s.engine, nil
	}
	open := s.deps.openEngine
	if open == nil {
		open = s.openBinary
	}
	opened, err := open(".", cmp.Or(s.workDir, dataDir()))
	if err != nil {
		return nil, err
	}
	s.engine = opened
	return opened, nil
}

func (s *session) openBinary(stackDir, workDir string) (preparedEngine, error) {
	if err := s.chooseDeployment(); err != nil {
		return nil, err
	}
	found, err := s.findBinary(workDir)
	if err != nil {
		return nil, err
	}
	if os.Getenv("TF_LOG") != "" && os.Getenv("TF_LOG_PATH") == "" {
		s.noteWork(fmt.Sprintf("The log of the engine (TF_LOG) goes to %s", filepath.Join(workDir, tfengine.EngineLog)))
	}
	opened, err := tfengine.New(tfengine.Options{
		Binary: found.Path, StackDir: stackDir, WorkDir: workDir, RunsDir: s.runsDir(), SchemaDir: schemaDir(), Resolver: s.packages(),
		Working: s.noteWork, Log: s.log,
	})
	if err != nil {
		return nil, s.engineProblem(err)
	}
	return opened, nil
}

// noteWork says what takes long, so that a person sees that something is done.
func (s *session) noteWork(what string) {
	if !s.options.json {
		s.note("%s...\n", what)
	}
}

// schemaDir is where schemas of providers are kept for all stacks of the user, empty if the system has no place for that.
func schemaDir() string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(caches, "cairn", "schemas")
}

// findBinary returns the binary to use.
func (s *session) findBinary(workDir string) (*engines.Candidate, error) {
	if s.binary != nil {
		return s.binary, nil
	}
	search, err := s.engineSearch()
	if err != nil {
		return nil, err
	}
	if err := makeWorkDir(workDir); err != nil {
		if !filepath.IsAbs(workDir) {
			workDir = filepath.Join(currentDir(), workDir)
		}
		return nil, fail("Working directory cannot be used", "cairn keeps the engine's files in the directory %s, and nothing can be written there: %s. "+
			"Name another directory for them with "+dataVariable+"=DIR, make the directory of the stack writable for this user, or copy the stack to one that is, "+
			"and name that with -chdir=DIR.", workDir, reason(err))
	}
	if err := s.ownWorkDir(workDir); err != nil {
		return nil, err
	}
	search.Identifier.RecordFile = tfengine.RecordFile(workDir)
	found, err := search.Find(context.Background())
	if err != nil {
		return nil, s.engineProblem(err)
	}
	s.log.Info("engine", "path", found.Path, "origin", string(found.Origin), "name", found.Info.Name, "version", found.Info.Version)
	s.binary, s.engineWarnings = found, s.unmetRequirements(found)
	return found, nil
}

// makeWorkDir makes the working directory, which version control is to ignore. Errors: also that it is not writable.
func makeWorkDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, checkWritable(dir))
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// checkWritable fails if no file can be made in a directory. The file always has the same name, so that programs that are killed leave one at most.
func checkWritable(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, ".writable"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = os.Remove(file.Name())
	if errors.Is(err, fs.ErrNotExist) { // by another program that asks the same
		err = nil
	}
	return errors.Join(file.Close(), err)
}

// openDeployment returns where the state is kept.
func (s *session) openDeployment(ctx context.Context) (*deployment.Deployment, error) {
	if s.opened != nil {
		return s.opened, nil
	}
	if err := s.chooseDeployment(); err != nil {
		return nil, err
	}
	location, err := s.stateLocation()
	if err != nil {
		return nil, err
	}
	store, err := statestore.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	s.opened = &deployment.Deployment{Name: s.deploymentName, Store: store, LockTimeout: s.options.lockTimeout, Notify: s.notify}
	return s.opened, nil
}

// defaultState is where the state is kept, beside the stack.
const defaultState = "cairn.state.db"

// stateLocation is where the state is kept, as a path or URL.
func (s *session) stateLocation() (string, error) {
	read, err := s.readSettings()
	if err != nil {
		return "", err
	}
	return cmp.Or(s.options.state, os.Getenv(stateVariable), read.State, defaultState), nil
}

// stateFile is the path of the state, whether it exists or not.
func (s *session) stateFile() (string, error) {
	location, err := s.stateLocation()
	return strings.TrimPrefix(location, "sqlite://"), err
}

// asDiagnostics makes diagnostics of any error.
func asDiagnostics(err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if errors.As(err, &diags) {
		return diags
	}
	if diag := deployment.StoreProblem(err); diag != nil {
		return hcl.Diagnostics{diag}
	}
	return failure.Diagnostics(err)
}

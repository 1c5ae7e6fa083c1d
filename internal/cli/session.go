// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/userfile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Streams are what a command reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// session is one run of a command: what it was given, and what it has opened so far.
type session struct {
	streams Streams
	deps    dependencies
	options globalOptions

	files   map[string]*hcl.File // sources of diagnostics, by the name in ranges
	opened  *operation.Stack     // nil until it is needed
	pending hcl.Diagnostics      // about what happened meanwhile, until diagnostics are reported

	workDir        string // for the stack, if it is not to be the usual one
	changesNothing bool   // the command does not even plan
	listsProviders bool   // the command ends with a list of all providers and their versions

	input *bufio.Reader // of answers, nil until the first question

	live atomic.Pointer[live.Display] // set while it is drawn on a terminal

	lost atomic.Pointer[error] // what kept output from being written, if anything did

	log     *slog.Logger // of cairn itself, see openLog
	logFile io.Closer    // nil unless it is in a file

	// reporter shows diagnostics. How depends on the command and its options.
	reporter func(hcl.Diagnostics) error
}

// dependencies are replaced by tests. Zero values stand for the real ones.
type dependencies struct {
	openEngine func(stackDir, workDir string) (operation.Engine, error)
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
		_ = s.opened.Close() //nolint:errcheck // see above
	}
	if s.logFile != nil {
		_ = s.logFile.Close() //nolint:errcheck // see above
	}
}

// stack returns the stack in the current directory, as the options say.
func (s *session) stack() *operation.Stack {
	if s.opened == nil {
		s.opened = operation.Open(operation.Options{
			WorkDir:        s.workDir,
			State:          s.options.state,
			Deployment:     s.options.deployment,
			Engine:         s.options.engine,
			EngineFrom:     "-engine",
			ReadOnlyLocks:  s.options.lockfile != "",
			LockTimeout:    s.options.lockTimeout,
			ChangesNothing: s.changesNothing,
			Notify:         s.notify,
			Log:            s.log,
			Files:          s.files,
			OpenEngine:     s.deps.openEngine,
		})
	}
	return s.opened
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
func (s *session) report(diags hcl.Diagnostics) error {
	diags = append(s.pending, diags...)
	s.pending = nil
	return s.reporter(withRemedies(diags))
}

// fail shows an error.
func (s *session) fail(err error) {
	if reportErr := s.report(operation.Diagnostics(err)); reportErr != nil {
		fmt.Fprintln(s.streams.Err, err)
	}
}

// finish shows the diagnostics of a whole command and returns its exit code.
func (s *session) finish(diags hcl.Diagnostics) (int, error) {
	if err := s.report(diags); err != nil {
		return 0, err
	}
	if diags.HasErrors() {
		return cmdline.ExitError, nil
	}
	return cmdline.ExitOK, nil
}

// reportText shows diagnostics to a person.
func (s *session) reportText(diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	return views.WriteDiagnostics(s.streams.Err, diags, s.sources(), s.viewOptions(s.streams.Err))
}

// reportDocuments shows diagnostics as a JSON document, if -json was given (rule L1).
func (s *session) reportDocuments() {
	if !s.options.json {
		return
	}
	s.reporter = func(diags hcl.Diagnostics) error {
		if len(diags) == 0 {
			return nil
		}
		document := failureDocument{jsonview.FormatVersion, diagnostic.All(diags, s.sources())}
		return jsonview.WriteDocument(s.streams.Out, document, true)
	}
}

// sources finds the text that diagnostics are about.
func (s *session) sources() diagnostic.Sources {
	return diagnostic.Sources{Files: s.files, Lookup: func(name string) []byte {
		path := s.stack().Path(name)
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

// currentDir names the current directory for messages.
func currentDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "the current directory"
	}
	return dir
}

// version is what this program is, as its build says.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

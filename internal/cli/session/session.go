// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Streams are the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Session is one run of a command: its options and streams, and the resources it has opened so far.
type Session struct {
	Streams Streams
	Deps    Dependencies
	Options Options

	Files   map[string]*hcl.File // sources of diagnostics, by the name in ranges
	opened  *operation.Stack     // nil until it is needed
	pending hcl.Diagnostics      // from notices, until diagnostics are reported

	ChangesNothing bool // the command does not even plan
	ListsProviders bool // the command ends with a list of all providers and their versions

	StopNow <-chan struct{} // closed with the first interrupt: operations that change nothing end at once
	stopNow func()          // closes it, once

	input *bufio.Reader // of answers, nil until the first question

	live     atomic.Pointer[live.Display] // set while it is drawn on a terminal
	fetching fetching

	workers workers

	Viewer *views.Options // how somebody elsewhere sees all streams; nil for what they are here

	Lost atomic.Pointer[error] // first error of writing output, if there was one

	Log     *slog.Logger // of cairn itself, see openLog
	logFile io.Closer    // nil unless it is in a file

	// Reporter shows diagnostics. How depends on the command and its options.
	Reporter func(hcl.Diagnostics) error

	// Notice shows a notice of an operation that goes on. It returns false for a notice that is to be
	// shown as text instead. Nil does so for all.
	Notice func(notice.Notice) bool
}

// Dependencies are replaced by tests. Zero values stand for the real ones.
type Dependencies struct {
	Engine   engine.Engine
	exit     func(status int)
	patience time.Duration
	Guard    *Guard // nil where signals are not for this program
}

func New(streams Streams, deps Dependencies) *Session {
	s := &Session{Streams: streams, Deps: deps, Files: map[string]*hcl.File{}}
	stopNow := make(chan struct{})
	s.StopNow, s.stopNow = stopNow, sync.OnceFunc(func() { close(stopNow) })
	s.Reporter = s.reportText
	s.Log = slog.New(slog.DiscardHandler)
	return s
}

// Part returns a session for one of the stacks that a command works on, which shows the events of
// that stack elsewhere. Nobody is asked anything by it. It completes the options with which the
// stack is opened; the caller says when it is opened, and closes it.
func (s *Session) Part(stack string, streams Streams, options *operation.Options) *Session {
	part := New(streams, s.Deps)
	part.Options.noColor = s.Options.noColor
	part.Log = s.Log.With("stack", stack)
	options.Env.Notify, options.Env.Log, options.Env.Files = part.notify, part.Log, part.Files
	return part
}

// Opened is called with the stack of a part.
func (s *Session) Opened(stack *operation.Stack) { s.opened = stack }

// Close releases everything that was opened. Errors are ignored, as no user can do anything about
// them: all data that matters was saved before.
func (s *Session) Close() {
	if s.opened != nil {
		_ = s.opened.Close() //nolint:errcheck // see above
	}
	if s.logFile != nil {
		_ = s.logFile.Close() //nolint:errcheck // see above
	}
}

// ChooseDeployment makes a command work on one deployment. The stack must not have been opened yet
// for anything but to read its files.
func (s *Session) ChooseDeployment(name string) {
	s.Options.deployment = name
	if s.opened != nil {
		options := s.StackOptions()
		options.Like = s.opened
		s.opened = operation.Open(options)
	}
}

// StackOptions are those with which the stack in the current directory is opened.
func (s *Session) StackOptions() operation.Options {
	return operation.Options{
		Env:           env.Options{State: s.Options.state, Deployment: s.Options.deployment, Notify: s.notify, Log: s.Log, Files: s.Files},
		Engine:        s.EngineRequest(),
		ReadOnlyLocks: s.Options.ReadOnly,
		LockTimeout:   s.Options.lockTimeout,
		StopNow:       s.StopNow,
	}
}

// EngineRequest says which engine the options ask for.
func (s *Session) EngineRequest() engines.Request {
	return engines.Request{
		Named: s.Options.Engine, NamedBy: "-engine", Given: s.Deps.Engine, ChangesNothing: s.ChangesNothing, Workers: s.transport,
	}
}

// Stack returns the stack in the current directory, as the options say.
func (s *Session) Stack() *operation.Stack {
	if s.opened == nil {
		s.opened = operation.Open(s.StackOptions())
	}
	return s.opened
}

// Print writes output of the command.
func (s *Session) Print(format string, args ...any) {
	if live := s.live.Load(); live != nil {
		live.Print(fmt.Sprintf(format, args...))
		return
	}
	s.endFetches()
	if _, err := fmt.Fprintf(s.Streams.Out, format, args...); err != nil {
		s.Lost.CompareAndSwap(nil, &err)
	}
}

// Line writes a line of the output. Texts from elsewhere, such as names of directories, stay on it,
// and steer no terminal.
func (s *Session) Line(format string, texts ...string) { s.Print("%s\n", inLine(format, texts)) }

// NoteLine is Line for notes beside the output.
func (s *Session) NoteLine(format string, texts ...string) { s.Note("%s\n", inLine(format, texts)) }

func inLine(format string, texts []string) string {
	args := make([]any, len(texts))
	for i, text := range texts {
		args[i] = safetext.Name(text)
	}
	return fmt.Sprintf(format, args...)
}

// Note writes a note beside the output. It goes to standard error, so that the output can be used
// by programs.
func (s *Session) Note(format string, args ...any) {
	text := fold(s.Streams.Err, fmt.Sprintf(format, args...))
	if live := s.live.Load(); live != nil {
		live.Print(text)
		return
	}
	s.endFetches()
	fmt.Fprint(s.Streams.Err, text)
}

// Say writes sentences to standard output.
func (s *Session) Say(format string, args ...any) {
	s.Print("%s", fold(s.Streams.Out, fmt.Sprintf(format, args...)))
}

// fold breaks long lines where a terminal would do it within words.
func fold(w io.Writer, text string) string {
	if !IsTerminal(w) {
		return text
	}
	return textstyle.Fold(text, TerminalSize(w).Width)
}

// Report shows diagnostics.
func (s *Session) Report(diags hcl.Diagnostics) error {
	diags = append(s.pending, diags...)
	s.pending = nil
	s.endFetches()
	return s.Reporter(withRemedies(diags))
}

// Fail shows an error.
func (s *Session) Fail(err error) {
	if reportErr := s.Report(operation.Diagnostics(err)); reportErr != nil {
		fmt.Fprintln(s.Streams.Err, err)
	}
}

// Finish shows the diagnostics of a whole command and returns its exit code.
func (s *Session) Finish(diags hcl.Diagnostics) (int, error) {
	if err := s.Report(diags); err != nil {
		return 0, err
	}
	if diags.HasErrors() {
		return cmdline.ExitError, nil
	}
	return cmdline.ExitOK, nil
}

// reportText shows diagnostics to a person.
func (s *Session) reportText(diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	return views.WriteDiagnostics(s.Streams.Err, diags, s.Sources(), s.ViewOptions(s.Streams.Err))
}

// failureDocument takes the place of a document that can't be written.
type failureDocument struct {
	FormatVersion string                  `json:"format_version"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

// ReportDocuments shows diagnostics as a JSON document, if -json was given (rule L1 of package
// cli).
func (s *Session) ReportDocuments() {
	if !s.Options.JSON {
		return
	}
	s.Reporter = func(diags hcl.Diagnostics) error {
		if len(diags) == 0 {
			return nil
		}
		failed := failureDocument{document.FormatVersion, diagnostic.All(diags, s.Sources())}
		return document.WriteDocument(s.Streams.Out, failed, true)
	}
}

// ReportText shows diagnostics to a person from now on, after a document.
func (s *Session) ReportText() { s.Reporter = s.reportText }

// Sources finds the text that diagnostics are about.
func (s *Session) Sources() diagnostic.Sources {
	return diagnostic.Sources{Files: s.Files, Lookup: func(name string) []byte {
		path := s.Stack().Sources().Path(name)
		src, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), hclsource.MaxSize)
		if err != nil {
			return nil // shown without its source
		}
		return src
	}}
}

// ViewOptions say how to write for people to a stream. Where that is not a terminal, COLUMNS may
// have the width.
func (s *Session) ViewOptions(w io.Writer) views.Options {
	if s.Viewer != nil {
		return *s.Viewer
	}
	var options views.Options
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		options.Width = columns
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return options
	}
	options.Color = !s.Options.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		options.Width = width
	}
	return options
}

// InputIsTerminal reports whether there is someone to ask.
func (s *Session) InputIsTerminal() bool {
	return IsTerminal(s.Streams.In)
}

// CurrentDir names the current directory for messages.
func CurrentDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "the current directory"
	}
	return dir
}

// Version is the version of this program, as its build has it.
func Version() string { return buildinfo.Read().Version }

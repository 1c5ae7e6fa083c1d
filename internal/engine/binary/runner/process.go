// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// ErrRunning says that an earlier process of the run's directory has not ended yet; [Attach] to it.
var ErrRunning = errors.New("an earlier process is still running")

// Command is a command to run.
type Command struct {
	Path string   // of the terraform or tofu binary
	Args []string // such as "apply", "-json", "tfplan"; without the program's name
	Dir  string   // to run in
	Env  []string // all of it; see [Environ]

	// Piped is the data that the process can read once from its descriptor 3, which its children
	// inherit, too. It has none if this is nil.
	Piped []byte

	// RunDir is the directory for the files of the run. It must exist.
	RunDir string

	// OnStderr is called by Wait with each line that the process writes to standard error, without its
	// end. May be nil.
	OnStderr func(line []byte)

	// Disposable says that the directory is of no use once Wait has returned: how
	// the process ended is not recorded in it.
	Disposable bool
}

// Process is a running or finished process. [Process.Wait] must be called once; the other methods
// are safe for concurrent use with it.
type Process struct {
	runDir     string
	disposable bool
	cmd        *exec.Cmd // nil for one that another program started
	recordErr  error     // why its number is not recorded
	pipe       *pipe     // nil if nothing was to be written
	onStderr   func(line []byte)

	mu         sync.Mutex
	run        Run    // guarded by mu once Wait has been called
	ended      string // guarded by mu; how, once exited is set
	exited     bool   // guarded by mu
	leaderless int    // guarded by mu; looks that have found only children of the process
}

// Start starts a process.
//
// Errors: [ErrRunning], and whatever keeps the process from being started; there is then no
// process.
func Start(c Command) (*Process, error) {
	if earlier, err := ReadRun(c.RunDir); err == nil && earlier.Running() {
		return nil, fmt.Errorf("process %d in %s: %w", earlier.PID, c.RunDir, ErrRunning)
	}
	if err := os.Remove(filepath.Join(c.RunDir, runFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing the record of an earlier run: %w", err)
	}
	stdout, err := createFile(filepath.Join(c.RunDir, EventsFile))
	if err != nil {
		return nil, fmt.Errorf("creating the file for events: %w", err)
	}
	defer stdout.Close() //nolint:errcheck // written by the process only
	stderr, err := createFile(filepath.Join(c.RunDir, StderrFile))
	if err != nil {
		return nil, fmt.Errorf("creating the file for errors: %w", err)
	}
	defer stderr.Close() //nolint:errcheck // written by the process only
	alive, err := lockAlive(filepath.Join(c.RunDir, aliveFile))
	if err != nil {
		return nil, fmt.Errorf("locking for the process: %w", err)
	}
	defer alive.Close() //nolint:errcheck // from then on only the process has it

	cmd := exec.Command(c.Path, c.Args...) //nolint:noctx // a context would kill it, against rule 3
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	piped, err := newPipe(c.Piped)
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	if piped != nil {
		cmd.ExtraFiles = []*os.File{piped.reader}
	}
	cmd.SysProcAttr = ownProcessGroup()
	inherit(cmd, alive)
	p := &Process{
		runDir:     c.RunDir,
		disposable: c.Disposable,
		cmd:        cmd,
		pipe:       piped,
		onStderr:   c.OnStderr,
		run:        Run{Path: c.Path, Args: c.Args, Dir: c.Dir, StartedAt: time.Now().UTC(), runDir: c.RunDir},
	}
	if err := p.run.write(); err != nil {
		return nil, errors.Join(err, piped.discard())
	}
	if err := piped.handOver(cmd.Start); err != nil {
		removeErr := os.Remove(filepath.Join(c.RunDir, runFile))
		return nil, errors.Join(fmt.Errorf("starting %s: %w", c.Path, err), removeErr)
	}
	p.run = p.run.identified(cmd.Process.Pid)
	p.recordErr = p.run.write() // without its number the process is still known by its lock
	return p, nil
}

// Attach returns the process that an earlier program started with runDir, running or not.
//
// Only the program that started a process gets its exit code. If that died first, Wait concludes
// from the events how the process ended. If it died while it was about to start the process, there
// may never have been one: Wait then returns without an event.
//
// Errors: those of [ReadRun].
func Attach(runDir string) (*Process, error) {
	run, err := ReadRun(runDir)
	if err != nil {
		return nil, err
	}
	p := &Process{runDir: runDir, run: run}
	p.find()
	return p, nil
}

// find looks for the number of a process that was started by a program that died before it recorded
// that.
func (p *Process) find() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run.PID > 0 || p.cmd != nil {
		return
	}
	pids := holders(p.run.aliveFile())
	for _, pid := range pids {
		if leadsGroup(pid) { // its children are in its group, or in groups of their own
			p.run = p.run.identified(pid)
			return
		}
	}
	if len(pids) == 0 {
		return
	}
	// The process is gone, and only its children are left. A process that was forked just now is not
	// in a group of its own yet, but for a moment only.
	if p.leaderless++; p.leaderless < leaderlessLooks {
		return
	}
	for _, pid := range pids {
		_ = killProcess(pid) //nolint:errcheck // it may have ended by itself; if not, it is waited for
	}
}

// leaderlessLooks are so many that time has passed in between.
const leaderlessLooks = 5

// Run returns the record of the process.
func (p *Process) Run() Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// Kill ends the process, and the providers it started, at once. Its state may be lost, and objects
// it was creating are not recorded anywhere.
func (p *Process) Kill() error {
	p.find()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exited || p.cmd == nil && !p.run.Running() {
		return nil
	}
	if p.run.PID == 0 {
		return errUnknownNumber
	}
	return killGroup(p.run.PID)
}

// errUnknownNumber is about a process that is known by its lock only.
var errUnknownNumber = errors.New("the process was started by a program that died before it recorded the number of the process, so that " +
	"no signal can be sent to it")

// interrupt asks the process to stop, unless it was asked before.
func (p *Process) interrupt() error {
	p.find()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exited || p.run.Interrupted || p.cmd == nil && !p.run.Running() {
		return nil
	}
	if p.run.PID == 0 {
		return errUnknownNumber
	}
	p.run.Interrupted = true
	// First the record, then the signal: a program that attaches must never send a second one.
	writeErr := p.run.write()
	return errors.Join(writeErr, interruptProcess(p.run.PID))
}

// Wait delivers the process's events to onEvent, in order and from this goroutine, from the first
// one on, until the process has ended. onEvent may be nil.
//
// When ctx ends, the process is interrupted once, and Wait goes on waiting for it without limit: it
// saves its results.
//
// Errors: only failures to read or write the files of the run. A result is returned together with
// them, as far as it is known. That the process failed is not an error.
func (p *Process) Wait(ctx context.Context, onEvent func(Event)) (*Result, error) {
	c := collector{onEvent: onEvent, text: excerpt{head: headText, tail: tailText}}
	errs := []error{p.recordErr}
	events, err := os.Open(filepath.Join(p.runDir, EventsFile))
	if err != nil {
		errs = append(errs, fmt.Errorf("reading events: %w", err))
	} else {
		defer events.Close() //nolint:errcheck // only read
	}
	t := &tail{file: events, deliver: c.line}
	errLines, closeErrLines, err := p.followStderr()
	if err != nil {
		errs = append(errs, fmt.Errorf("reading errors: %w", err))
	}
	defer closeErrLines()

	if err := p.follow(ctx, t, errLines); err != nil {
		errs = append(errs, err)
	}
	if err := t.finish(); err != nil && events != nil {
		errs = append(errs, fmt.Errorf("reading events: %w", err))
	}
	if err := errLines.finish(); err != nil {
		errs = append(errs, fmt.Errorf("reading errors: %w", err))
	}
	stderr, err := readExcerpt(filepath.Join(p.runDir, StderrFile), stderrExcerpt)
	if err != nil {
		errs = append(errs, fmt.Errorf("reading errors: %w", err))
	}
	c.end()
	c.result.Text = c.text.String()
	c.result.Stderr = stderr
	run := p.Run()
	c.result.conclude(run)
	c.result.Ended = p.howEnded()
	if p.cmd == nil && c.result.Outcome == OutcomeDied {
		run.killOrphans()
	}
	return &c.result, errors.Join(errs...)
}

// followStderr returns a reader of the lines of standard error, which delivers none if nobody asked
// for them.
func (p *Process) followStderr() (_ *tail, closeFile func(), err error) {
	if p.onStderr == nil {
		return nil, func() {}, nil
	}
	file, err := os.Open(filepath.Join(p.runDir, StderrFile))
	if err != nil {
		return nil, func() {}, err
	}
	return &tail{file: file, deliver: p.onStderr, blank: true}, func() { _ = file.Close() }, nil //nolint:errcheck // only read
}

// howEnded says how the process ended, if this program has started it.
func (p *Process) howEnded() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// The pauses between two looks at the file: short while events arrive, long while a slow resource
// is waited for.
const (
	minPause = 5 * time.Millisecond
	maxPause = 100 * time.Millisecond
)

// follow reads events until the process has ended. The last ones may be left to read.
func (p *Process) follow(ctx context.Context, t, errLines *tail) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	exited := make(chan struct{})
	var exitErr, interruptErr error
	if p.cmd != nil {
		wg.Go(func() {
			defer close(exited)
			exitErr = p.reap()
			p.pipe.close() // if the process has not read it, nobody will
		})
		wg.Go(p.pipe.write)
	}
	pause := minPause
	timer := time.NewTimer(0)
	defer timer.Stop()
	cancelled := ctx.Done()
	for {
		select {
		case <-exited:
			return errors.Join(exitErr, interruptErr)
		case <-cancelled:
			cancelled = nil
			interruptErr = p.interrupt()
		case <-timer.C:
			p.find()
			if p.cmd == nil && !p.Run().Running() {
				return interruptErr
			}
			pause = min(2*pause, maxPause)
			progress, _ := t.read()           //nolint:errcheck // finish meets the same error, and reports it
			errProgress, _ := errLines.read() //nolint:errcheck // the same
			if progress || errProgress {
				pause = minPause
			}
			timer.Reset(pause)
		}
	}
}

// reap waits for the end of a process that this program started, and records it.
func (p *Process) reap() error {
	err := p.cmd.Wait()
	code := p.cmd.ProcessState.ExitCode()

	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited, p.ended = true, p.cmd.ProcessState.String()
	p.run.ExitCode = &code
	if code < 0 {
		// Killed: its providers have nobody left to work for, and would stay forever.
		_ = killGroup(p.run.PID) //nolint:errcheck // it is only tidying up
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("waiting for process %d: %w", p.run.PID, err)
	}
	if p.disposable {
		return nil
	}
	return p.run.write()
}

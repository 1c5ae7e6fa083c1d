// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The files of a run's directory, besides those of package runner.
const (
	lockFile     = "lock"
	applyFile    = "apply.json"
	goodFile     = "state.good.json" // the newest state that could be read
	priorFile    = "state.prior.json"
	reportFile   = "report.json" // in a directory of which the state is saved
	planFileName = "plan.tfplan"
	treeDir      = "tree"

	retiredSuffix = ".recovered" // of a directory with a report
	goneSuffix    = ".gone-"     // of one that is being removed
)

// errUnrecovered says that an apply of the component instance was cut off.
var errUnrecovered = errors.New("an earlier apply of this component was cut off and what it left behind was not recovered yet; recover it first")

// runDir is the directory of one run, locked until it is closed.
type runDir struct {
	path string
	lock *os.File
}

// HasRuns reports whether there is a directory of an apply in the one that they are kept in: of one that is under way, or of one that was cut off.
func HasRuns(runsDir string) bool {
	entries, err := os.ReadDir(runsDir)
	return err == nil && slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		_, err := os.Lstat(filepath.Join(runsDir, entry.Name(), lockFile))
		return err == nil && entry.IsDir()
	})
}

// applyRecord says what is applied in a run's directory.
type applyRecord struct {
	Work      engine.WorkID `json:"work,omitempty"`
	Component string        `json:"component"`
	Mode      engine.Mode   `json:"mode"`
	StartedAt time.Time     `json:"started_at"`
	Root      string        `json:"root"`  // of the working copy, relative to the run's directory
	State     string        `json:"state"` // [fileHash] of the state that it began with

	// As in [engine.Purpose].
	Plan   string `json:"plan,omitempty"`
	Serial int64  `json:"serial,omitempty"`

	MAC string `json:"mac"` // of all others, by the secret of the state
}

// stateFile returns the file that the engine's process writes.
func (d *runDir) stateFile(record applyRecord) string {
	return filepath.Join(d.path, record.Root, workcopy.StateFile)
}

// isUntouched reports whether the state is the one that the apply began with.
func (d *runDir) isUntouched(record applyRecord) (bool, error) {
	file := d.stateFile(record)
	if _, err := os.Stat(emergencyState(file)); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	hash, err := fileHash(file)
	return hash == record.State, err
}

// fileHash returns a hash of a file's content; "" if there is no file.
func fileHash(name string) (string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// slug returns a name for files that no other address has.
func slug(address string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, address)
	if len(safe) > 60 {
		safe = safe[:60]
	}
	sum := sha256.Sum256([]byte(address))
	return safe + "-" + hex.EncodeToString(sum[:6])
}

// newRunDir makes and locks a directory for a run of a component instance. It is always the same one, so that
// absolute paths that a module asks for don't change, unless another program is using that.
//
// Errors: [errUnrecovered].
func (e *Session) newRunDir(component string) (*runDir, error) {
	if err := errors.Join(noLink(e.runsDir), os.MkdirAll(e.runsDir, 0o700)); err != nil {
		return nil, fmt.Errorf("making a directory for a run: %w", err)
	}
	for attempt := 1; ; attempt++ {
		path := filepath.Join(e.runsDir, slug(component))
		if attempt > 1 {
			path = fmt.Sprintf("%s.%d", path, attempt)
		}
		dir, err := lockRunDir(path)
		if err != nil {
			return nil, fmt.Errorf("making a directory for a run: %w", err)
		}
		if dir == nil {
			continue // in use
		}
		err = dir.clear()
		if err == nil {
			return dir, nil
		}
		if err := errors.Join(err, dir.close()); !errors.Is(err, errAlive) {
			return nil, err
		}
	}
}

// lockRunDir locks a directory, making it if needed. Returns nil if another program, or another
// run of this one, has it.
func lockRunDir(path string) (*runDir, error) {
	if err := noLink(path); err != nil {
		return nil, err
	}
	for {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed by its owner just now
		}
		if err != nil {
			return nil, err
		}
		locked, err := filelock.TryLock(lock)
		if err != nil || !locked {
			return nil, errors.Join(err, lock.Close())
		}
		// The one who had the lock may have removed the file.
		if sameFile(lock) {
			return &runDir{path, lock}, nil
		}
		if err := lock.Close(); err != nil {
			return nil, err
		}
	}
}

// noLink fails for a symbolic link: cairn makes none there, and what it would clear is elsewhere.
func noLink(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == os.ModeSymlink {
		return fmt.Errorf("%s is a symbolic link, which cairn has not made", path)
	}
	return nil // who uses the path reports other errors
}

func sameFile(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, named)
}

// isAlive reports whether a process of the engine runs in the directory.
func (d *runDir) isAlive() bool {
	run, err := runner.ReadRun(d.path)
	return err == nil && run.Running()
}

// errAlive says that a process runs in a directory, of a plan whose program was killed.
var errAlive = errors.New("a process of the engine still runs in the directory")

// clear removes what a run that came to no good end left behind.
//
// Errors: [errUnrecovered], [errAlive].
func (d *runDir) clear() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("clearing the directory of a run: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == applyFile {
			return errUnrecovered
		}
	}
	if d.isAlive() {
		return errAlive
	}
	for _, entry := range entries {
		if entry.Name() == lockFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(d.path, entry.Name())); err != nil {
			return fmt.Errorf("clearing the directory of a run: %w", err)
		}
	}
	return nil
}

func (d *runDir) file(name string) string { return filepath.Join(d.path, name) }

// close unlocks the directory and leaves it in place.
func (d *runDir) close() error { return d.lock.Close() }

// remove removes the directory and unlocks it.
func (d *runDir) remove() error {
	// The record of an apply goes first: without it, nobody takes the rest for something to recover.
	err := os.Remove(d.file(applyFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.removeFiles(), d.lock.Close())
}

// removeFiles removes the directory under another name: under its own, others that wait for it would make a lock in it meanwhile, and keep it or lose theirs.
func (d *runDir) removeFiles() error {
	gone := d.path + goneSuffix + rand.Text()
	if err := os.Rename(d.path, gone); err != nil { // such as where files that are open cannot be renamed
		gone = d.path
	}
	err := os.RemoveAll(gone)
	for range 100 {
		if !errors.Is(err, os.ErrExist) {
			break
		}
		err = os.RemoveAll(gone) // who was just opening the lock has made another one, and sees that it is not the right one
	}
	return err
}

// beginApply records that from now on the directory matters (rule T1).
func (d *runDir) beginApply(record applyRecord) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("recording an apply: %w", err)
	}
	if err := installation.WriteFile(d.file(applyFile), data); err != nil {
		return fmt.Errorf("recording an apply: %w", err)
	}
	return nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rundir keeps the directories in which an engine's processes work: one a run of a
// component instance, locked while it is used. That of an apply outlives the program, so that
// another one can recover the results of the apply.
//
// Rules:
//
//	T1. A run's directory is locked by the program that uses it. One that is not locked and has the
//	    record of an apply belongs to a program that was killed.
//	T2. State is written to a run's directory before the process starts, and the directory outlives
//	    the process until the caller has the newest state.
//	T3. All files may hold secrets. Only their owner can read them.
//	T4. The directory of an apply is only removed if the caller has its state, or if the state in it
//	    is the one that the apply began with and no process of the engine uses it.
package rundir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/filelock"
)

// The files of a run's directory, besides those of package runner.
const (
	RecordFile = "apply.json"
	GoodFile   = "state.good.json" // the newest state that could be read
	PriorFile  = "state.prior.json"
	PlanFile   = "plan.tfplan" // of the engine
	TreeDir    = "tree"        // the working copy

	GeneratedFile = "generated.tf" // blocks that the engine has generated

	lockFile   = "lock"
	reportFile = "report.json" // in a directory of which the state is saved

	retiredSuffix = ".recovered" // of a directory with a report
	goneSuffix    = ".gone-"     // of one that is being removed
)

// ErrUnrecovered says that an apply of the component instance was cut off.
var ErrUnrecovered = errors.New("an earlier apply of this component was cut off and its work was not recovered yet; recover it first")

// Dir is the directory of one run, locked until it is closed or removed. It is for one goroutine at
// a time.
type Dir struct {
	path string
	lock *os.File
}

// Any reports whether there is a directory of an apply in the one that they are kept in: of one
// that is under way, or of one that was cut off.
func Any(runsDir string) bool {
	entries, err := os.ReadDir(runsDir)
	return err == nil && slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		return isRun(runsDir, entry) && (isThere(runsDir, entry.Name(), RecordFile) || isThere(runsDir, entry.Name(), reportFile))
	})
}

// List returns the paths of the directories of runs in the one that they are kept in, sorted. It is
// no error if that does not exist.
func List(runsDir string) ([]string, error) {
	entries, err := os.ReadDir(runsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err := errors.Join(err, noLink(runsDir)); err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if isRun(runsDir, entry) {
			paths = append(paths, filepath.Join(runsDir, entry.Name()))
		}
	}
	return paths, nil
}

// isRun reports whether an entry was made by [New].
func isRun(runsDir string, entry os.DirEntry) bool {
	return entry.IsDir() && isThere(runsDir, entry.Name(), lockFile)
}

func isThere(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// Written returns where files are kept, beside the directories of runs, that the module of a
// component instance has written below its own directory.
func Written(runsDir, component string) string {
	return filepath.Join(filepath.Dir(runsDir), "written", Slug(component))
}

// StateFile returns the file that the engine's process writes.
func (d *Dir) StateFile(record Record) string {
	return filepath.Join(d.path, record.Root, workcopy.StateFile)
}

// IsUntouched reports whether the state is the one that the apply began with.
func (d *Dir) IsUntouched(record Record) (bool, error) {
	file := d.StateFile(record)
	if _, err := os.Stat(EmergencyState(file)); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	hash, err := fileHash(file)
	return hash == record.State, err
}

// HashState returns the [Record.State] of the state that is in the directory now.
func (d *Dir) HashState(record Record) (string, error) { return fileHash(d.StateFile(record)) }

// EmergencyState returns the file to which the engine writes a state that it can't write to the
// given one.
func EmergencyState(file string) string { return filepath.Join(filepath.Dir(file), "errored.tfstate") }

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

// Slug returns a name for files that no other address has.
func Slug(address string) string {
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

// New makes and locks a directory for a run of a component instance. It is always the same one, so
// that absolute paths that a module asks for don't change, unless another program is using that.
//
// Errors: [ErrUnrecovered].
func New(runsDir, component string) (*Dir, error) {
	if err := errors.Join(noLink(runsDir), os.MkdirAll(runsDir, 0o700)); err != nil {
		return nil, fmt.Errorf("making a directory for a run: %w", err)
	}
	for attempt := 1; ; attempt++ {
		path := filepath.Join(runsDir, Slug(component))
		if attempt > 1 {
			path = fmt.Sprintf("%s.%d", path, attempt)
		}
		dir, err := Lock(path)
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
		if err := errors.Join(err, dir.Close()); !errors.Is(err, errAlive) {
			return nil, err
		}
	}
}

// Lock locks a directory, making it if needed. Returns nil if another program, or another
// run of this one, has it.
func Lock(path string) (*Dir, error) {
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
		// The program that had the lock may have removed the file.
		if filelock.InPlace(lock) {
			return &Dir{path, lock}, nil
		}
		if err := lock.Close(); err != nil {
			return nil, err
		}
	}
}

// noLink fails for a symbolic link: cairn makes none there, and the files that it would clear are
// elsewhere.
func noLink(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == os.ModeSymlink {
		return fmt.Errorf("%s is a symbolic link, which cairn has not made", path)
	}
	return nil // users of the path report other errors
}

// IsAlive reports whether a process of the engine runs in the directory.
func (d *Dir) IsAlive() bool {
	run, err := runner.ReadRun(d.path)
	return err == nil && run.Running()
}

// errAlive says that a process runs in a directory, of a plan whose program was killed.
var errAlive = errors.New("a process of the engine still runs in the directory")

// clear removes the files of a run that came to no good end.
//
// Errors: [ErrUnrecovered], [errAlive].
func (d *Dir) clear() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("clearing the directory of a run: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == RecordFile {
			return ErrUnrecovered
		}
	}
	if d.IsAlive() {
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

// Path is where the directory is, which [Dir.Retire] changes.
func (d *Dir) Path() string { return d.path }

// File returns the path of a file in the directory.
func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

// Close unlocks the directory and leaves it in place.
func (d *Dir) Close() error { return d.lock.Close() }

// Remove removes the directory and unlocks it.
func (d *Dir) Remove() error {
	// The record of an apply goes first: without it, nobody takes the rest for something to recover.
	err := os.Remove(d.File(RecordFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.removeFiles(), d.lock.Close())
}

// removeFiles removes the directory under another name: under its own, others that wait for it
// would make a lock in it meanwhile, and keep it or lose theirs.
func (d *Dir) removeFiles() error {
	gone := d.path + goneSuffix + rand.Text()
	if err := os.Rename(d.path, gone); err != nil { // such as where files that are open cannot be renamed
		gone = d.path
	}
	err := os.RemoveAll(gone)
	for range 100 {
		if !errors.Is(err, os.ErrExist) {
			break
		}
		err = os.RemoveAll(gone) // a program that was just opening the lock has made another one, and sees that it is not the right one
	}
	return err
}

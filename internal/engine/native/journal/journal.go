// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

const suffix = ".journal"

// Journal is that of a session. Made by [New]. Safe for concurrent use.
type Journal struct {
	dir  string
	keys *encryption.Keyring // by which records are encrypted, if that is demanded

	mu struct {
		sync.Mutex
		purpose engine.Purpose
		file    *file // nil before there is anything to keep
		works   map[engine.WorkID]*Work
		left    map[engine.WorkID]*left
		reports map[engine.WorkID]*copies // of works that are to begin, to those who keep their records

		// recorded are files that the state knows of, with nothing of which somebody must hear. They
		// stay until the state does not know of them any more.
		recorded []*file
		replaced []string // names of files that the state knows of, once others were made in their places
	}
}

// New returns the journal of a session whose files are in a directory, together with those of other
// sessions. Nothing is written yet. Keys may be nil.
func New(dir string, keys *encryption.Keyring) *Journal {
	j := &Journal{dir: dir, keys: keys}
	j.mu.works = map[engine.WorkID]*Work{}
	j.mu.left = map[engine.WorkID]*left{}
	j.mu.reports = map[engine.WorkID]*copies{}
	return j
}

// Bind sets the purpose of all work that is begun from now on, and of the journals that are read.
func (j *Journal) Bind(purpose engine.Purpose) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.purpose = purpose
}

// file is an open journal file: lines, and then padding in whose place the next ones come. Syncing
// overwritten blocks takes much less than syncing a file that grows.
type file struct {
	os     *os.File
	signer signer
	size   int64 // of the lines
	room   int64 // for them, with the padding
	tail   durable.Tail
	copied *copies // nil if nobody keeps a copy
}

// roomStep is by how much there is more room when it is needed.
const roomStep = 64 << 10

// create makes a file that nobody else has, in which records are. With its name, it is on the disk.
func (j *Journal) create(path string, secret []byte, records ...record) (*file, error) {
	root, err := j.keys.ForFiles(context.Background()) // which was made when the state was locked
	if err != nil {
		return nil, err
	}
	first := record{Kind: opened, StartedAt: time.Now().UTC()}
	if root != nil {
		wrapped := root.Wrapped()
		first.Key = &wrapped
	}
	if err := durable.MakeDir(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	f := &file{os: made, signer: signer{secret: secret, root: root}}
	if _, err := filelock.TryLock(made); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	records = append([]record{first}, records...)
	if err := errors.Join(f.write(records...), made.Sync(), durable.Dir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	return f, nil
}

// write appends records.
func (f *file) write(records ...record) error {
	var lines []byte
	before := f.signer.last
	for i := range records {
		line, err := f.signer.line(&records[i])
		if err != nil {
			f.signer.last = before
			return err
		}
		lines = append(lines, line...)
	}
	end := f.size + int64(len(lines))
	err := f.makeRoom(end)
	if err == nil {
		var n int
		if n, err = f.os.WriteAt(lines, f.size); err != nil {
			err = errors.Join(err, f.pad(f.size, f.size+int64(n)))
		}
	}
	if err != nil {
		f.signer.last = before
		return err
	}
	f.size = end
	f.tail.Wrote(end)
	f.copied.add(lines)
	return nil
}

// sync returns when the file is on the disk up to a size, and has a copy, if somebody keeps one.
func (f *file) sync(size int64) error {
	if err := f.copied.make(); err != nil {
		return fmt.Errorf("copying the journal to where the state is: %w", err)
	}
	return f.tail.Sync(f.os, size)
}

// makeRoom has padding after lines that are as long as that.
func (f *file) makeRoom(size int64) error {
	if size < f.room {
		return nil
	}
	room := (size/roomStep + 1) * roomStep
	if err := f.pad(f.room, room); err != nil {
		return errors.Join(err, f.os.Truncate(f.room))
	}
	f.room = room
	return nil
}

// pad writes padding.
func (f *file) pad(from, to int64) error {
	_, err := f.os.WriteAt(bytes.Repeat([]byte{padding}, int(to-from)), from)
	return err
}

func (f *file) name() string { return filepath.Base(f.os.Name()) }

// remove removes the file, before the lock on it ends.
func (f *file) remove() error { return errors.Join(os.Remove(f.os.Name()), f.os.Close()) }

// Work is the apply of one component. Made by [Journal.Begin].
type Work struct {
	journal *Journal
	records []record // that are not in the file yet
	durable bool     // they are from now on

	intentions intentions // without results

	reports *copies // in place of the file; nil for work whose record is here
	number  int64   // of the last record that was reported

	delegated *left // of work that another session does; nil for others
}

// Begin begins the record of an apply.
func (j *Journal) Begin(work engine.WorkID, component string, mode engine.Mode, prior engine.State) *Work {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := &Work{journal: j, intentions: intentions{}}
	w.records = []record{{
		Kind: began, Work: work, Component: component, Mode: mode, StartedAt: time.Now().UTC(),
		Plan: j.mu.purpose.Plan, Serial: j.mu.purpose.Serial, State: prior,
	}}
	w.reports = j.mu.reports[work]
	j.mu.works[work] = w
	return w
}

// Intend says that something is about to be done with an object outside of the state.
//
// Errors: if that cannot be recorded. It must not be done then.
func (w *Work) Intend(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey, action engine.Action) error {
	return w.add(record{Kind: intended, Object: addr.String(), Deposed: string(deposed), Action: action}, addr, deposed)
}

// Store says that an object was written to the state.
func (w *Work) Store(e tfstate.Entry) error {
	return w.add(record{Kind: stored, Object: e.Addr.String(), Deposed: string(e.Deposed), Entry: e.AppendJSON(nil)}, e.Addr, e.Deposed)
}

// Remove says that an object is gone from the state.
func (w *Work) Remove(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error {
	return w.add(record{Kind: removed, Object: addr.String(), Deposed: string(deposed)}, addr, deposed)
}

// Unchanged says that nothing came of an intention.
func (w *Work) Unchanged(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error {
	return w.add(record{Kind: unchanged, Object: addr.String(), Deposed: string(deposed)}, addr, deposed)
}

// Finish records the end of the apply, with success or not. Together with the results, that is on
// the disk then: a result that is safe elsewhere must not seem older here if the acknowledgement of
// it gets lost.
func (w *Work) Finish() error {
	j := w.journal
	j.mu.Lock()
	r := record{Kind: finished, Work: w.records[0].Work}
	if w.reports != nil {
		delete(j.mu.works, r.Work)
		defer j.mu.Unlock()
		return w.report(append(w.records[1:], r))
	}
	if !w.durable {
		w.records = append(w.records, r)
		j.mu.Unlock()
		return nil
	}
	f := j.mu.file
	err := f.write(r)
	size := f.size
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return f.tail.Sync(f.os, size)
}

// Doubts returns the error about actions in doubt (rule J3), if there are any.
func (w *Work) Doubts() hcl.Diagnostics {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	return w.intentions.explain()
}

func (w *Work) add(r record, addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error {
	if err := w.append(r); err != nil {
		return fmt.Errorf("recording the change of %s: %w", stackaddrs.ResourceInstanceObject{Instance: addr, Deposed: deposed}, err)
	}
	return nil
}

// append writes a record, unless it can wait, and returns when it is on the disk if it is an
// intention (rule J1).
func (w *Work) append(r record) error {
	j := w.journal
	j.mu.Lock()
	r.Work = w.records[0].Work
	if r.Kind == intended {
		w.intentions[intention{r.Object, r.Deposed}] = r.Action
		w.durable = true
	} else {
		delete(w.intentions, intention{r.Object, r.Deposed})
	}
	if !w.durable {
		w.records = append(w.records, r)
		j.mu.Unlock()
		return nil
	}
	if w.reports != nil {
		err := w.report(append(w.records[1:], r))
		j.mu.Unlock()
		if err != nil || r.Kind != intended {
			return err
		}
		return w.reports.make()
	}
	err := w.flush(append(w.records[1:], r))
	f := j.mu.file
	if err != nil || r.Kind != intended {
		j.mu.Unlock()
		return err
	}
	size := f.size
	j.mu.Unlock()
	return f.sync(size)
}

// flush writes the records that are not in the file yet. The first record stays, for the name of
// the work, once it is written. j.mu must be held.
func (w *Work) flush(rest []record) error {
	j := w.journal
	if err := j.open(); err != nil {
		return err
	}
	records := rest
	if w.records[0].Kind == began {
		records = append([]record{w.records[0]}, rest...)
	}
	if err := j.mu.file.write(records...); err != nil {
		return err
	}
	w.records = []record{{Work: w.records[0].Work}}
	return nil
}

// open makes the file of the session, once. j.mu must be held.
func (j *Journal) open() error {
	if j.mu.file != nil {
		return nil
	}
	f, err := j.create(filepath.Join(j.dir, rand.Text()+suffix), j.mu.purpose.Secret)
	if err != nil {
		return err
	}
	j.mu.file = f
	return nil
}

// Record implements [engine.Recoverer].
func (j *Journal) Record(_ context.Context, added func(context.Context, []byte) error) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.open(); err != nil {
		return "", err
	}
	if added != nil && j.mu.file.copied == nil {
		var err error
		if j.mu.file.copied, err = newCopies(j.mu.file, added); err != nil {
			return "", err
		}
	}
	return j.mu.file.name(), nil
}

// Acknowledge marks the result of an apply as safe elsewhere, and its doubts as seen.
func (j *Journal) Acknowledge(work engine.WorkID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if old := j.mu.left[work]; old != nil {
		return old.acknowledge()
	}
	w := j.mu.works[work]
	if w == nil {
		return nil
	}
	if w.delegated != nil {
		w.intentions = w.delegated.doubts()
	}
	if len(w.intentions) == 0 {
		delete(j.mu.works, work)
	}
	if !w.durable {
		return nil
	}
	records := []record{{Kind: acknowledged, Work: work}}
	if len(w.intentions) > 0 {
		records = append(records, record{Kind: seen, Work: work})
	}
	return j.mu.file.write(records...)
}

// isRecorded reports whether the state knows of a file. j.mu must be held.
func (j *Journal) isRecorded(name string) bool { return slices.Contains(j.mu.purpose.Recorded, name) }

// Close ends the session. Work that was not acknowledged, or is in doubt, stays for another one.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var errs []error
	for _, w := range j.mu.works {
		if !w.durable {
			errs = append(errs, w.flush(w.records[1:]))
		}
	}
	for _, old := range j.mu.left {
		errs = append(errs, old.file.leave())
	}
	for _, known := range j.mu.recorded {
		if j.isRecorded(known.name()) {
			errs = append(errs, known.os.Close())
		} else {
			errs = append(errs, known.remove())
		}
	}
	j.mu.recorded = nil
	j.mu.left = map[engine.WorkID]*left{}
	if j.mu.file == nil {
		return errors.Join(errs...)
	}
	j.mu.file.copied.end()
	if len(j.mu.works) == 0 && !j.isRecorded(j.mu.file.name()) {
		errs = append(errs, j.mu.file.remove())
	} else {
		errs = append(errs, j.mu.file.os.Close())
	}
	j.mu.file = nil
	return errors.Join(errs...)
}

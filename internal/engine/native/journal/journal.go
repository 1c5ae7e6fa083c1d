// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

const suffix = ".journal"

// Journal is that of a session. Made by [New]. Safe for concurrent use.
type Journal struct {
	dir string

	mu struct {
		sync.Mutex
		purpose engine.Purpose
		file    *file // nil before there is anything to keep
		works   map[engine.WorkID]*Work
		left    map[engine.WorkID]*left
	}
}

// New returns the journal of a session whose files are in a directory, together with those of other sessions. Nothing is written yet.
func New(dir string) *Journal {
	j := &Journal{dir: dir}
	j.mu.works = map[engine.WorkID]*Work{}
	j.mu.left = map[engine.WorkID]*left{}
	return j
}

// Bind says for what work is begun from now on, and whose journals are read.
func (j *Journal) Bind(purpose engine.Purpose) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.purpose = purpose
}

// file is an open journal file.
type file struct {
	os     *os.File
	signer signer
}

// create makes a file that nobody else has.
func create(dir string, secret []byte) (*file, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	opened, err := os.OpenFile(filepath.Join(dir, rand.Text()+suffix), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := filelock.TryLock(opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &file{os: opened, signer: signer{secret: secret}}, nil
}

// write appends records.
func (f *file) write(records ...record) error {
	var lines []byte
	before := f.signer.last
	for i := range records {
		line, err := f.signer.line(&records[i])
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if n, err := f.os.Write(lines); err != nil {
		f.signer.last = before
		return errors.Join(err, f.retract(n))
	}
	return nil
}

// retract removes what was written of lines that could not be written whole.
func (f *file) retract(written int) error {
	if written == 0 {
		return nil
	}
	info, err := f.os.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - int64(written)
	if err := f.os.Truncate(size); err != nil {
		return err
	}
	_, err = f.os.Seek(size, 0)
	return err
}

// remove removes the file, before the lock on it ends.
func (f *file) remove() error { return errors.Join(os.Remove(f.os.Name()), f.os.Close()) }

// Work is the apply of one component. Made by [Journal.Begin].
type Work struct {
	journal *Journal
	records []record // that are not in the file yet
	durable bool     // they are from now on

	intentions intentions // without results
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

// Finish says that the apply has come to its end, whatever that was.
func (w *Work) Finish() error {
	j := w.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	r := record{Kind: finished, Work: w.records[0].Work}
	if w.durable {
		return j.mu.file.write(r)
	}
	w.records = append(w.records, r)
	return nil
}

// Doubts returns the error about what is in doubt (rule J3), if anything is.
func (w *Work) Doubts() hcl.Diagnostics {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	return w.intentions.explain()
}

func (w *Work) add(r record, addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error {
	j := w.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Work = w.records[0].Work
	object := stackaddrs.ResourceInstanceObject{Instance: addr, Deposed: deposed}
	if r.Kind == intended {
		w.intentions[intention{r.Object, r.Deposed}] = r.Action
		w.durable = true
	} else {
		delete(w.intentions, intention{r.Object, r.Deposed})
	}
	if !w.durable {
		w.records = append(w.records, r)
		return nil
	}
	if err := w.flush(append(w.records[1:], r)); err != nil {
		return fmt.Errorf("recording what is done with %s: %w", object, err)
	}
	return nil
}

// flush writes what is not in the file yet. The first record stays, for the name of the work, once it is written. j.mu must be held.
func (w *Work) flush(rest []record) error {
	j := w.journal
	if j.mu.file == nil {
		f, err := create(j.dir, j.mu.purpose.Secret)
		if err != nil {
			return err
		}
		j.mu.file = f
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

// Acknowledge says that the result of an apply is safe elsewhere, and that somebody has heard what is in doubt.
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

// Close ends the session. What was not acknowledged, or is in doubt, stays for another one.
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
	j.mu.left = map[engine.WorkID]*left{}
	if j.mu.file == nil {
		return errors.Join(errs...)
	}
	if len(j.mu.works) == 0 {
		errs = append(errs, j.mu.file.remove())
	} else {
		errs = append(errs, j.mu.file.os.Close())
	}
	j.mu.file = nil
	return errors.Join(errs...)
}

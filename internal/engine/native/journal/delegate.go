// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var _ engine.Delegator = (*Journal)(nil)

// Report implements [engine.Delegator].
func (j *Journal) Report(work engine.WorkID, to func(content []byte) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.reports[work] = &copies{added: func(_ context.Context, content []byte) error { return to(content) }, interval: reportInterval}
}

// EndReport implements [engine.Delegator].
func (j *Journal) EndReport(work engine.WorkID) []byte {
	j.mu.Lock()
	reports := j.mu.reports[work]
	delete(j.mu.reports, work)
	j.mu.Unlock()
	return reports.rest()
}

// report adds records to those that are reported next: records in JSON, one a line. They are signed
// where they are kept. j.mu must be held.
func (w *Work) report(records []record) error {
	w.records = []record{{Work: w.records[0].Work}}
	for _, r := range records {
		w.number++
		r.Number = w.number
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		w.reports.add(append(text, '\n'))
	}
	return nil
}

// Delegate implements [engine.Delegator].
func (j *Journal) Delegate(_ context.Context, req *engine.ApplyRequest, about []byte) error {
	w := j.Begin(req.Work, req.Component.String(), req.Mode, req.Planned.RefreshedState)
	j.mu.Lock()
	defer j.mu.Unlock()
	w.records[0].Elsewhere = about
	w.delegated, w.durable = &left{records: slices.Clone(w.records)}, true
	if err := w.flush(nil); err != nil {
		delete(j.mu.works, req.Work)
		return err
	}
	if err := j.sync(j.mu.file); err != nil {
		return errors.Join(err, w.forget())
	}
	return nil
}

// sync returns when all lines of a file are on the disk, and have copies. j.mu must be held, and is
// given up meanwhile.
func (j *Journal) sync(f *file) error {
	size := f.size
	j.mu.Unlock()
	defer j.mu.Lock()
	return f.sync(size)
}

// forget records that nothing was done by work that was delegated. j.mu of its journal must be
// held.
func (w *Work) forget() error {
	id := w.records[0].Work
	delete(w.journal.mu.works, id)
	return w.journal.mu.file.write(record{Kind: forgotten, Work: id})
}

// isReported reports whether records of a kind are made where the work is done.
func (k kind) isReported() bool {
	return slices.Contains([]kind{intended, stored, removed, unchanged, finished}, k)
}

// workOf returns work of a session that has ended, or work that this one has delegated, with the
// file of its records. j.mu must be held.
func (j *Journal) workOf(work engine.WorkID) (*left, *file, error) {
	if l := j.mu.left[work]; l != nil {
		return l, l.file.file, nil
	}
	if w := j.mu.works[work]; w != nil && w.delegated != nil {
		return w.delegated, j.mu.file, nil
	}
	return nil, nil, engine.ErrUnknownWork
}

// Reported implements [engine.Delegator]. It does not wait for the disk once the work has ended:
// its result is about to be saved, and the reports are kept where they come from until then.
func (j *Journal) Reported(_ context.Context, work engine.WorkID, content []byte) error {
	records, err := readReports(work, content)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	l, f, err := j.workOf(work)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(records, func(r record) bool { return r.Number <= l.number })
	if len(records) == 0 {
		return nil
	}
	if first := records[0].Number; first != l.number+1 {
		return fmt.Errorf("after report %d of %s comes report %d", l.number, work, first)
	}
	if err := f.write(records...); err != nil {
		return err
	}
	for _, r := range records {
		l.add(r)
	}
	if !l.finished && slices.ContainsFunc(records, func(r record) bool { return r.Kind == intended }) {
		return j.sync(f)
	}
	return nil
}

func readReports(work engine.WorkID, content []byte) ([]record, error) {
	var records []record
	for decoder := json.NewDecoder(bytes.NewReader(content)); ; {
		var r record
		err := decoder.Decode(&r)
		switch {
		case errors.Is(err, io.EOF):
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("a report of %s cannot be read: %w", work, err)
		case r.Work != work || !r.Kind.isReported():
			return nil, fmt.Errorf("a report of %s has a record %q of %s", work, r.Kind, r.Work)
		}
		records = append(records, r)
	}
}

// Lose implements [engine.Delegator].
func (j *Journal) Lose(_ context.Context, work engine.WorkID, reason string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, f, err := j.workOf(work)
	if err != nil {
		return err
	}
	r := record{Kind: unreported, Work: work, Damage: reason}
	if err := f.write(r); err != nil {
		return err
	}
	l.add(r)
	return j.sync(f)
}

// Settle implements [engine.Delegator].
func (j *Journal) Settle(work engine.WorkID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l, _, err := j.workOf(work); err == nil {
		l.settled = true
	}
}

// Delegated implements [engine.Delegator].
func (j *Journal) Delegated(work engine.WorkID) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l := j.mu.left[work]; l != nil && l.goesOn() {
		return l.records[0].Elsewhere
	}
	return nil
}

// goesOn reports whether another session may still do the work.
func (l *left) goesOn() bool {
	return l.records[0].Elsewhere != nil && !l.finished && !l.saved && !l.settled && l.lost == ""
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// leftFile is the journal of a session that has ended, with work of which somebody must still hear.
type leftFile struct {
	*file
	works int // that this session has not left
	open  int // that were not forgotten
}

// left is work of a session that has ended.
type left struct {
	file     *leftFile
	records  []record // the first is its beginning
	finished bool
	saved    bool
	seen     bool
	restored bool // from a copy, which may have less than there was

	number  int64  // of the last record that another session has reported
	lost    string // why more may have been done than it has reported; "" if that is not so
	settled bool   // nobody goes on with it
}

// Unfinished implements [engine.Recoverer].
func (j *Journal) Unfinished(ctx context.Context) ([]engine.UnfinishedWork, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	paths, err := filepath.Glob(filepath.Join(j.dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	var found []engine.UnfinishedWork
	var errs []error
	for _, path := range append(paths, j.missing(paths)...) {
		if slices.Contains(j.mu.purpose.Others, filepath.Base(path)) {
			continue
		}
		more, err := j.take(ctx, path)
		if err != nil {
			errs = append(errs, fmt.Errorf("recovering from an interrupted apply by %s: %w", filepath.Base(path), err))
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b engine.UnfinishedWork) int { return strings.Compare(a.Component, b.Component) })
	return found, errors.Join(errs...)
}

// missing returns the paths of those files that the state knows of and that are not there. j.mu
// must be held.
func (j *Journal) missing(paths []string) []string {
	var missing []string
	for _, name := range j.mu.purpose.Recorded {
		path := filepath.Join(j.dir, name)
		if filepath.IsLocal(name) && !slices.Contains(j.mu.replaced, name) && !slices.Contains(paths, path) {
			missing = append(missing, path)
		}
	}
	return missing
}

// take takes over a file whose session has ended. j.mu must be held.
func (j *Journal) take(ctx context.Context, path string) ([]engine.UnfinishedWork, error) {
	isRecorded := j.isRecorded(filepath.Base(path))
	opened, err := openLocked(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !isRecorded {
			return nil, nil // removed just now
		}
		isRestored, restoreErr := j.restore(ctx, path, j.mu.purpose.Copies[filepath.Base(path)])
		if restoreErr != nil {
			return nil, restoreErr
		}
		if !isRestored {
			return j.replace(path, contents{damage: "is missing"})
		}
		opened, err = openLocked(path)
	}
	if opened == nil {
		return nil, err
	}
	taken := &leftFile{file: &file{os: opened, signer: signer{secret: j.mu.purpose.Secret}}}
	content, err := taken.signer.read(ctx, opened, j.keysOf(path))
	switch {
	case (errors.Is(err, errForeign) || errors.Is(err, errEmpty)) && isRecorded:
		content.damage = "is damaged at its beginning"
	case errors.Is(err, errForeign):
		return []engine.UnfinishedWork{{Foreign: true, Place: path}}, opened.Close()
	case errors.Is(err, errEmpty) && len(j.mu.purpose.CutOff) > 0 && len(j.mu.purpose.Recorded) == 0:
		// The program died before the state knew of its journal, and so before it asked a provider
		// for anything. A file with doubts of an earlier one has none of this: it was synced when
		// it was made.
		return []engine.UnfinishedWork{{Empty: true, Place: path}}, taken.remove()
	case errors.Is(err, errEmpty):
		return []engine.UnfinishedWork{{Foreign: true, Empty: true, Place: path}}, opened.Close()
	case err != nil:
		return nil, errors.Join(err, opened.Close())
	case len(content.records) == 0 && isRecorded:
		content.damage = "has lost its beginning"
	case len(content.records) == 0:
		return nil, taken.remove() // the session was killed before it had made it
	}
	if content.damage != "" {
		found, err := j.replace(path, content)
		if err != nil {
			return found, errors.Join(err, opened.Close())
		}
		return found, taken.remove()
	}
	if err := taken.goOn(content.size); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	found := j.keep(taken, content.records)
	switch {
	case taken.open > 0:
		return found, nil
	case isRecorded:
		j.mu.recorded = append(j.mu.recorded, taken.file)
		return nil, nil
	}
	return nil, taken.remove()
}

// keep keeps the work in a file that was taken over. j.mu must be held.
func (j *Journal) keep(taken *leftFile, records []record) []engine.UnfinishedWork {
	var found []engine.UnfinishedWork
	for _, one := range works(records) {
		one.file = taken
		taken.open++
		taken.works++
		j.mu.left[one.records[0].Work] = one
		found = append(found, one.unfinished(taken.os.Name()))
	}
	return found
}

// replace makes a file in the place of one of which something is lost, with the records that are
// left. The loss stays in doubt until somebody has seen it, like an intention. j.mu must be held.
func (j *Journal) replace(path string, content contents) ([]engine.UnfinishedWork, error) {
	var records []record
	for _, r := range content.records {
		switch r.Kind {
		case opened:
			continue
		case began:
			r.Damage = content.damage
		}
		records = append(records, r)
	}
	records = append(records, record{
		Kind: lost, Work: engine.WorkID("journal/" + filepath.Base(path)), Damage: "The journal " + path + " " + content.damage,
	})
	f, err := j.create(filepath.Join(j.dir, rand.Text()+suffix), j.mu.purpose.Secret, records...)
	if err != nil {
		return nil, err
	}
	j.mu.replaced = append(j.mu.replaced, filepath.Base(path))
	return j.keep(&leftFile{file: f}, records), nil
}

// goOn makes the file ready for further records, in the place of a line that is not whole.
func (f *file) goOn(size int64) error {
	info, err := f.os.Stat()
	if err != nil {
		return err
	}
	f.size, f.room = size, info.Size()
	return f.pad(size, f.room)
}

// openLocked opens a file that no session has. Without an error, the result is nil if one has it,
// or if it is no file that [create] makes.
//
// Errors: [fs.ErrNotExist].
func openLocked(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	opened, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	locked, err := filelock.TryLock(opened)
	if err != nil || !locked {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// works sorts records by work, without that of which nobody needs to hear.
func works(records []record) []*left {
	byID := map[engine.WorkID]*left{}
	var order []*left
	for _, r := range records {
		if r.Kind == restored {
			for _, before := range order {
				before.restored = true
			}
			continue
		}
		one := byID[r.Work]
		switch {
		case r.Kind == began, r.Kind == lost:
			one = &left{saved: r.Kind == lost}
			byID[r.Work] = one
			order = append(order, one)
		case one == nil:
			continue
		}
		if r.Kind == forgotten {
			delete(byID, r.Work)
		}
		one.add(r)
	}
	return slices.DeleteFunc(order, func(one *left) bool {
		return byID[one.records[0].Work] != one || one.saved && !one.isDoubtful()
	})
}

// add adds a record of the work.
func (l *left) add(r record) {
	l.number = max(l.number, r.Number)
	switch r.Kind {
	case acknowledged:
		l.saved = true
	case seen:
		l.seen = true
	case finished:
		l.finished = true
	case unreported:
		l.lost = r.Damage
	default:
		l.records = append(l.records, r)
	}
}

func (l *left) unfinished(path string) engine.UnfinishedWork {
	start := l.records[0]
	return engine.UnfinishedWork{Work: start.Work, Component: start.Component, Mode: start.Mode, StartedAt: start.StartedAt, Place: path}
}

// isLost reports whether this is no work, but stands for lost records.
func (l *left) isLost() bool { return l.records[0].Kind == lost }

func (l *left) isDoubtful() bool { return l.isLost() || l.lost != "" || len(l.doubts()) > 0 }

// doubts returns the intentions of which nothing is known.
func (l *left) doubts() intentions {
	open := intentions{}
	for _, r := range l.records[1:] {
		if r.Kind == intended {
			open[intention{r.Object, r.Deposed}] = r.Action
		} else {
			delete(open, intention{r.Object, r.Deposed})
		}
	}
	return open
}

// Resume implements [engine.Recoverer].
func (j *Journal) Resume(_ context.Context, work engine.WorkID, after engine.Position, observe engine.Observer) (*engine.Recovered, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, _, err := j.workOf(work)
	switch {
	case err != nil:
		return nil, err
	case l.goesOn():
		return nil, fmt.Errorf("an apply of %s may go on elsewhere, and nobody was asked for its end: no workers are configured",
			l.records[0].Component)
	case l.isLost() || l.lost != "" || len(l.records) > 1:
	case l.file != nil:
		return nil, j.drop(work, forgotten)
	default:
		return nil, j.mu.works[work].forget()
	}
	l.replay(after, observe)
	return l.result()
}

// result returns the result of the work, by its records.
func (l *left) result() (*engine.Recovered, error) {
	start := l.records[0]
	if l.isLost() {
		return &engine.Recovered{Work: start.Work, Saved: true, Seen: l.seen, Lost: start.Damage}, nil
	}
	doubts := l.doubts()
	result := &engine.Recovered{
		Work:      start.Work,
		Component: start.Component,
		Mode:      start.Mode,
		Saved:     l.saved,
		Seen:      l.seen,
		Doubts:    doubts.addresses(),
		Lost:      l.lost,
	}
	if !l.finished {
		result.Diagnostics = hcl.Diagnostics{failure.New("Component partly applied",
			"The program that applied %s has ended before it was done.", start.Component)}
	}
	result.Diagnostics = append(result.Diagnostics, doubts.explain()...)
	if l.saved {
		return result, nil
	}
	result.Plan, result.Serial, result.Incomplete = start.Plan, start.Serial, start.Damage != "" || l.restored || l.lost != ""
	state, err := l.state()
	if err != nil {
		return nil, fmt.Errorf("recovering %s: %w", start.Component, err)
	}
	result.State = state
	return result, nil
}

// replay passes on the recorded changes as events.
func (l *left) replay(after engine.Position, observe engine.Observer) {
	for i, r := range l.records[1:] {
		position := engine.Position(i + 1)
		if r.Kind == intended || position <= after {
			continue
		}
		observe.Observe(engine.Event{Position: position, Type: engine.ApplyComplete, Resource: r.Object, Action: string(r.Action)})
	}
}

// state returns the state with all that was done.
func (l *left) state() (engine.State, error) {
	doc, err := tfstate.Parse(l.records[0].State)
	if err != nil {
		return nil, err
	}
	entries := map[[2]string]tfstate.Entry{}
	for _, e := range doc.Entries() {
		entries[[2]string{e.Addr.String(), string(e.Deposed)}] = e
	}
	var reader tfstate.EntryReader
	for _, r := range l.records[1:] {
		object := [2]string{r.Object, r.Deposed}
		switch r.Kind {
		case stored:
			if entries[object], err = reader.Read(r.Entry); err != nil {
				return nil, err
			}
		case removed:
			delete(entries, object)
		}
	}
	all := slices.Collect(maps.Values(entries))
	if doc.IsEmpty() {
		doc, err = tfstate.New(nil, all)
	} else {
		doc, err = doc.WithEntries(all)
	}
	if err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// acknowledge notes that the state is safe.
func (l *left) acknowledge() error {
	if l.saved {
		return nil
	}
	l.saved = true
	return l.file.write(record{Kind: acknowledged, Work: l.records[0].Work})
}

// MarkSeen implements [engine.Recoverer].
func (j *Journal) MarkSeen(_ context.Context, work engine.WorkID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.mu.left[work]
	switch {
	case l == nil:
		return engine.ErrUnknownWork
	case l.seen || !l.saved || !l.isDoubtful():
		return nil
	}
	l.seen = true
	return l.file.write(record{Kind: seen, Work: work})
}

// Forget implements [engine.Recoverer].
func (j *Journal) Forget(_ context.Context, work engine.WorkID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.drop(work, forgotten)
}

// Leave implements [engine.Recoverer].
func (j *Journal) Leave(_ context.Context, work engine.WorkID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.drop(work, "")
}

// drop ends the dealings of this session with work. j.mu must be held.
func (j *Journal) drop(work engine.WorkID, as kind) error {
	l := j.mu.left[work]
	if l == nil {
		return engine.ErrUnknownWork
	}
	delete(j.mu.left, work)
	var err error
	if as == forgotten {
		l.file.open--
		err = l.file.write(record{Kind: forgotten, Work: work})
	}
	return errors.Join(err, l.file.leave())
}

// leave closes the file when this session has left all work in it, and removes it if nobody needs
// to hear of any.
func (f *leftFile) leave() error {
	f.works--
	switch {
	case f.works > 0:
		return nil
	case f.open == 0:
		return f.remove()
	default:
		return f.os.Close()
	}
}

// Kept implements [engine.Keeper].
func (j *Journal) Kept(ctx context.Context, secret []byte) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(j.dir, "*"+suffix))
	if err != nil || secret == nil {
		return nil, err
	}
	var components []string
	for _, path := range paths {
		works, err := j.readWorks(ctx, path, secret)
		if err != nil {
			return nil, err
		}
		for _, one := range works {
			if !one.saved {
				components = append(components, one.records[0].Component)
			}
		}
	}
	slices.Sort(components)
	return slices.Compact(components), nil
}

// readWorks reads a file that another session may have. Unreadable contents are for Unfinished to
// report; without the key of contents, it is not known what they are.
func (j *Journal) readWorks(ctx context.Context, path string, secret []byte) ([]*left, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer opened.Close() //nolint:errcheck // it was only read
	s := signer{secret: secret}
	content, err := s.read(ctx, opened, j.keysOf(path))
	if encryption.CodeOf(err) != "" {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	return works(content.records), nil
}

func (j *Journal) keysOf(path string) journalKeys { return journalKeys{j.keys, "the journal " + path} }

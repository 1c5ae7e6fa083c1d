// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// model is all that the log of a deployment says up to an entry.
type model struct {
	deployment string
	number     int64 // of that entry; 0 before the first
	hash       hash  // of that entry

	lineage  string
	versions []version // oldest first
	records  map[string][]byte

	// touched has the records that the newest serial has changed, and whether each was there before.
	touched map[string]bool

	holders []*holder // of locks, in the order in which they got them
	epoch   int64     // of the last one
	secret  []byte    // nil if there is none

	moved   string // the location where the state is; "" if it is here
	movedAt time.Time
}

// holder is the holder of a lock.
type holder struct {
	statestore.LockInfo
	entry int64 // that has taken the lock
}

// version is a serial with the entries that wrote it: the first one, and the last one while it was
// the newest. That it was finished can be noted later, when the log has entries of other serials.
type version struct {
	statestore.Version
	first, last int64

	lock      string // under which it was opened
	continues int64  // the serial whose operation goes on in this one; 0 if that is new
}

func newModel(deployment string) *model {
	return &model{deployment: deployment, records: map[string][]byte{}, touched: map[string]bool{}}
}

// base is the newest serial.
func (m *model) base() statestore.Base {
	return statestore.Base{Lineage: m.lineage, Serial: int64(len(m.versions))}
}

// newest returns the newest serial, the zero one where there is none.
func (m *model) newest() version {
	if len(m.versions) == 0 {
		return version{}
	}
	return m.versions[len(m.versions)-1]
}

// snapshot returns the state at the newest serial.
func (m *model) snapshot() *statestore.Snapshot {
	records := make(map[string][]byte, len(m.records))
	for key, value := range m.records {
		records[key] = append([]byte{}, value...)
	}
	return &statestore.Snapshot{Version: m.newest().Version, Lineage: m.lineage, Records: records}
}

// apply adds an entry, which is the next one. An entry that cannot follow is an error.
func (m *model) apply(e *statelogv1.Entry, sum hash) error {
	switch {
	case checkFormat(e.GetFormatVersion()) != nil:
		return checkFormat(e.GetFormatVersion())
	case e.GetDeployment() != m.deployment || e.GetNumber() != m.number+1 || m.number > 0 && !bytes.Equal(e.GetPrevious(), m.hash[:]):
		return fmt.Errorf("its entry %d is not the one that follows entry %d", e.GetNumber(), m.number)
	}
	if err := m.occur(e); err != nil {
		return err
	}
	m.number, m.hash = e.GetNumber(), sum
	if h := m.holder(e.GetLockId()); h != nil {
		h.Seen = toTime(e.GetTime())
	}
	return nil
}

// holder returns the holder of the lock with an ID, nil if that is not held.
func (m *model) holder(lockID string) *holder {
	for _, h := range m.holders {
		if h.ID == lockID {
			return h
		}
	}
	return nil
}

// present returns the first holder that has what a lock has that is not held any more, nil if there
// is none.
func (m *model) present(lost *statestore.LockInfo) *statestore.LockInfo {
	for _, h := range m.holders {
		if _, conflicts := lost.Conflict(&h.LockInfo); conflicts {
			now := h.LockInfo
			return &now
		}
	}
	return nil
}

// occur changes the model by the event of an entry.
func (m *model) occur(e *statelogv1.Entry) error {
	switch event := e.GetEvent().(type) {
	case *statelogv1.Entry_Lock:
		return m.lock(e.GetNumber(), event.Lock)
	case *statelogv1.Entry_Unlock:
		return m.unlock(event.Unlock.GetLockId())
	case *statelogv1.Entry_Begin:
		return m.open(e, event.Begin)
	case *statelogv1.Entry_Import:
		if err := m.open(e, event.Import); err != nil {
			return err
		}
		// A record that was changed, and then back, counts as changed in the other store.
		m.versions[len(m.versions)-1].Version = toVersion(event.Import.GetVersion()).Version
	case *statelogv1.Entry_Write:
		if len(m.versions) == 0 {
			return errDamaged
		}
		m.change(e.GetNumber(), event.Write)
	case *statelogv1.Entry_Commit:
		return m.finish(event.Commit.GetSerial(), toTime(e.GetTime()), e.GetNumber())
	case *statelogv1.Entry_Secret:
		m.secret = event.Secret
	case *statelogv1.Entry_Moved:
		m.moved, m.movedAt = event.Moved, toTime(e.GetTime())
	default:
		return errNewer // an event of a later version
	}
	return nil
}

// lock adds a holder, in the place of those whose locks it displaces.
func (m *model) lock(number int64, l *statelogv1.Lock) error {
	for _, id := range l.GetDisplaced() {
		if err := m.unlock(id); err != nil {
			return err
		}
	}
	h := toHolder(m.deployment, l)
	h.entry = number
	m.holders, m.epoch = append(m.holders, h), h.Epoch
	return nil
}

// unlock removes a holder.
func (m *model) unlock(lockID string) error {
	h := m.holder(lockID)
	if h == nil {
		return errDamaged
	}
	m.holders = slices.DeleteFunc(m.holders, func(other *holder) bool { return other == h })
	return nil
}

// open adds a serial.
func (m *model) open(e *statelogv1.Entry, serial *statelogv1.Serial) error {
	v := toVersion(serial.GetVersion())
	if v.Serial != int64(len(m.versions))+1 {
		return errDamaged
	}
	if v.continues != 0 {
		if err := m.finish(v.continues, v.Started, e.GetNumber()); err != nil {
			return err
		}
	}
	v.Changed, v.Total, v.first, v.last, v.lock = 0, m.newest().Total, e.GetNumber(), e.GetNumber(), e.GetLockId()
	m.lineage = serial.GetLineage()
	m.versions = append(m.versions, v)
	m.touched = map[string]bool{}
	m.change(e.GetNumber(), serial.GetWrite())
	return nil
}

// finish notes with an entry that the operation of a serial has ended, or goes on in another one.
// If there are later serials, the entry does not count as one of this serial: [log.until] would
// find theirs, too.
func (m *model) finish(serial int64, at time.Time, entry int64) error {
	if serial < 1 || serial > int64(len(m.versions)) {
		return errDamaged
	}
	v := &m.versions[serial-1]
	v.Finished = at
	if isNewest := serial == int64(len(m.versions)); isNewest {
		v.last = entry
	}
	return nil
}

// newestOf returns the newest serial that was opened under a lock, the zero one where there is
// none.
func (m *model) newestOf(lockID string) version {
	for _, v := range slices.Backward(m.versions) {
		if v.lock == lockID {
			return v
		}
	}
	return version{}
}

// change changes records in the newest serial, and counts them.
func (m *model) change(number int64, write *statelogv1.Write) {
	newest := &m.versions[len(m.versions)-1]
	newest.last = number
	for _, r := range write.GetRecords() {
		key := string(r.GetKey())
		_, exists := m.records[key]
		existed, touched := m.touched[key]
		if !touched {
			existed = exists
			m.touched[key] = existed
		}
		if r.GetDeleted() {
			delete(m.records, key)
		} else {
			m.records[key] = r.GetValue()
		}
		newest.Changed += counts(existed, !r.GetDeleted()) - counted(touched, existed, exists)
	}
	newest.Total = int64(len(m.records))
}

// counts is 1 for a record that was there before a serial or is there after it, else 0.
func counts(before, after bool) int64 {
	if before || after {
		return 1
	}
	return 0
}

// counted is what a record counted before a change to it.
func counted(touched, before, after bool) int64 {
	if !touched {
		return 0
	}
	return counts(before, after)
}

// changes returns those of some changes that are any, as an event; nil if none is.
func (m *model) changes(changes map[string][]byte) *statelogv1.Write {
	write := &statelogv1.Write{}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := changes[key]
		old, exists := m.records[key]
		if !exists && value == nil || exists && value != nil && bytes.Equal(old, value) {
			continue
		}
		write.Records = append(write.Records, &statelogv1.Record{Key: []byte(key), Value: value, Deleted: value == nil})
	}
	return write
}

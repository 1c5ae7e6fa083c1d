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

	holder    *statestore.LockInfo // nil if nobody holds the lock
	lockEntry int64                // that has taken it
	epoch     int64
	secret    []byte // nil if there is none

	moved   string // the location where the state is; "" if it is here
	movedAt time.Time
}

// version is a serial with the entries that wrote it.
type version struct {
	statestore.Version
	first, last int64
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
	case e.GetFormatVersion() != formatVersion:
		return errNewer
	case e.GetDeployment() != m.deployment || e.GetNumber() != m.number+1 || m.number > 0 && !bytes.Equal(e.GetPrevious(), m.hash[:]):
		return fmt.Errorf("its entry %d is not the one that follows entry %d", e.GetNumber(), m.number)
	}
	if err := m.occur(e); err != nil {
		return err
	}
	m.number, m.hash = e.GetNumber(), sum
	if m.holder != nil && m.holder.ID == e.GetLockId() {
		m.holder.Seen = toTime(e.GetTime())
	}
	return nil
}

// occur changes the model by the event of an entry.
func (m *model) occur(e *statelogv1.Entry) error {
	switch event := e.GetEvent().(type) {
	case *statelogv1.Entry_Lock:
		m.holder, m.lockEntry = toLock(m.deployment, event.Lock), e.GetNumber()
		m.epoch = m.holder.Epoch
	case *statelogv1.Entry_Unlock:
		m.holder, m.lockEntry = nil, 0
	case *statelogv1.Entry_Begin:
		return m.open(e.GetNumber(), event.Begin)
	case *statelogv1.Entry_Import:
		if err := m.open(e.GetNumber(), event.Import); err != nil {
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
		if len(m.versions) == 0 {
			return errDamaged
		}
		newest := &m.versions[len(m.versions)-1]
		newest.Finished, newest.last = toTime(e.GetTime()), e.GetNumber()
	case *statelogv1.Entry_Secret:
		m.secret = event.Secret
	case *statelogv1.Entry_Moved:
		m.moved, m.movedAt = event.Moved, toTime(e.GetTime())
	default:
		return errNewer // an event of a later version
	}
	return nil
}

// open adds a serial.
func (m *model) open(number int64, serial *statelogv1.Serial) error {
	v := toVersion(serial.GetVersion())
	if v.Serial != int64(len(m.versions))+1 {
		return errDamaged
	}
	v.Changed, v.Total, v.first, v.last = 0, m.newest().Total, number, number
	m.lineage = serial.GetLineage()
	m.versions = append(m.versions, v)
	m.touched = map[string]bool{}
	m.change(number, serial.GetWrite())
	return nil
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

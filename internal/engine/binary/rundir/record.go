// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rundir

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Record describes the apply in a run's directory.
type Record struct {
	Work      engine.WorkID `json:"work,omitempty"`
	Component string        `json:"component"`
	Mode      engine.Mode   `json:"mode"`
	StartedAt time.Time     `json:"started_at"`
	Root      string        `json:"root"`  // of the working copy, relative to the run's directory
	State     string        `json:"state"` // hash of the state that it began with; see [Dir.HashState]

	// Scope is that in which the process was to be started, see [runner.Scope]. It is on the disk
	// before that.
	Scope string `json:"scope,omitempty"`

	// As in [engine.Purpose].
	Plan   string `json:"plan,omitempty"`
	Serial int64  `json:"serial,omitempty"`

	MAC string `json:"mac"` // of all others, by the secret of the state
}

// MayHaveBegun reports whether the engine may have begun the apply, whatever is left of its events:
// it locks the state before that, and the last writes of another boot of the machine may not be on
// the disk.
func (d *Dir) MayHaveBegun(record Record) (bool, error) {
	if record.Scope != "" && record.Scope != runner.Scope() {
		return true, nil
	}
	state := d.StateFile(record)
	_, err := os.Stat(filepath.Join(filepath.Dir(state), "."+filepath.Base(state)+".lock.info"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// BeginApply records that from now on the directory matters (rule T1).
func (d *Dir) BeginApply(record Record) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("recording an apply: %w", err)
	}
	err = safefile.Replace(d.File(RecordFile), data, 0o600)
	if err == nil { // on the disk before anything is done
		err = errors.Join(durable.File(d.File(RecordFile)), durable.Dir(d.path), durable.Dir(filepath.Dir(d.path)))
	}
	if err != nil {
		return fmt.Errorf("recording an apply: %w", err)
	}
	return nil
}

// ReadRecord returns the record of the apply in the directory.
//
// Errors: [os.ErrNotExist] for the directory of a run that changes nothing.
func (d *Dir) ReadRecord() (Record, error) {
	data, err := os.ReadFile(d.File(RecordFile))
	if err != nil {
		return Record{}, err
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		return Record{}, fmt.Errorf("reading the record of an apply: %w", err)
	}
	return record, nil
}

// WorkIn returns the name of the apply in a directory. Earlier versions of cairn have not recorded
// it.
func (r Record) WorkIn(path string) engine.WorkID {
	if r.Work == "" {
		return engine.WorkID("run/" + filepath.Base(path))
	}
	return r.Work
}

// Signed returns the record as a state with this secret signs it: a directory that came from
// elsewhere has none that fits.
func (r Record) Signed(secret []byte) Record {
	r.MAC = ""
	data, err := json.Marshal(r)
	if err != nil {
		panic("encoding the record of an apply: " + err.Error())
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(data) // never fails
	r.MAC = hex.EncodeToString(mac.Sum(nil))
	return r
}

// IsSigned reports whether the record was signed with this secret, and not changed since.
func (r Record) IsSigned(secret []byte) bool {
	return hmac.Equal([]byte(r.Signed(secret).MAC), []byte(r.MAC))
}

// Unrecovered returns the components, sorted, of the applies below a directory for runs that are
// still to be recovered into the state of a secret.
func Unrecovered(runsDir string, secret []byte) []string {
	paths, err := filepath.Glob(filepath.Join(runsDir, "*", RecordFile))
	if err != nil || runsDir == "" || secret == nil { // without one the state has begun nothing
		return nil
	}
	var components []string
	for _, path := range paths {
		var record Record
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &record) != nil || !record.IsSigned(secret) {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), reportFile)); err != nil { // else the state is saved
			components = append(components, record.Component)
		}
	}
	slices.Sort(components)
	return slices.Compact(components)
}

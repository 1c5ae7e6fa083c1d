// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Who is a person, or a program for one, at a machine and a time.
type Who struct {
	By   string    `json:"by"`
	Host string    `json:"host"`
	At   time.Time `json:"at"`
}

// Run is the request that began a run.
type Run struct {
	ID      string   `json:"id"`
	Began   Who      `json:"began"`
	Version string   `json:"version"` // of the program, as [buildinfo.Info.Protocol] has it
	Command []string `json:"command"` // as it was given, for people
	Mode    string   `json:"mode"`
	Commit  string   `json:"commit,omitempty"` // that was checked out; "" if that cannot be said
	Units   []Unit   `json:"units"`            // in the order of their numbers

	Sources Sources `json:"sources"`
	Options Options `json:"options"`
}

// Unit is a unit of a run.
type Unit struct {
	Number     int    `json:"number"` // by which calls are named
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Deployment string `json:"deployment,omitempty"`
	Pool       string `json:"pool"`
	Chosen     bool   `json:"chosen"` // it is worked on; otherwise others have values from it

	OnlyByOutputs []string `json:"only_by_outputs,omitempty"` // units whose outputs are the only reason for it
}

// Sources are the files of a run.
type Sources struct {
	Digest string `json:"digest"`
	Below  string `json:"below"` // the directory of the workspace in them
}

// Options are the options of the run that count for all that carry it on.
type Options struct {
	AutoApprove    bool `json:"auto_approve,omitempty"`
	Ask            bool `json:"ask,omitempty"`
	AcceptRecovery bool `json:"accept_recovery,omitempty"`
	MaxRounds      int  `json:"max_rounds,omitempty"`
	Parallel       int  `json:"parallel"`
	Concise        bool `json:"concise,omitempty"`
	Set            bool `json:"set,omitempty"` // it applies a saved set, which is in a record
	Details        bool `json:"details,omitempty"`

	SetOf    string `json:"set_of,omitempty"`    // the run that has planned the set, if it is kept with that
	KeepsSet bool   `json:"keeps_set,omitempty"` // the plans of this run are kept with it

	// Gone is the commit that its units were there at, if it destroys what is gone; "" for others.
	Gone string `json:"gone,omitempty"`
}

// Question is the plan of a unit that waits for approval.
type Question struct {
	Unit  int    `json:"unit"`
	Name  string `json:"name"`
	Round int    `json:"round"`
	Since Who    `json:"since"`
}

// Approval is the approval of the plan of a unit.
type Approval struct {
	Who
	Text string `json:"text,omitempty"` // for more than that plan, such as the name of a group
}

// String names the approver for the history.
func (a Approval) String() string { return fmt.Sprintf("%s at %s", a.By, a.Host) }

// Outcome is the end of a run.
type Outcome struct {
	Who
	Code int   `json:"code"` // with which the command has ended
	Ends []End `json:"ends"`
}

// End is the end of a unit.
type End struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// Store has the runs in records. It is safe for concurrent use.
type Store struct {
	Records records.Store
	Key     envelope.RunKey
}

// The names of records and folders.
const (
	indexFolder    = "index/"
	runName        = "run"
	askedFolder    = "asked/"
	approvedFolder = "approved/"
	cancelledName  = "cancelled"
	endedName      = "ended"
	setName        = "set"
	progressFolder = "progress/"
	settledName    = "settled"
	removedFolder  = "removed/"

	// The records, below the folder of a run, with its files, and with the values of variables that
	// the environment has given it.
	SourcesName   = "sources"
	VariablesName = "variables"
)

// ErrUnknown says that there is no such run.
var ErrUnknown = errors.New("there is no such run")

// seal records something that the run key opens, and the keys of others.
//
// Errors: [records.ErrExists].
func (s *Store) seal(ctx context.Context, name string, content []byte, to ...envelope.Recipient) error {
	sealed, err := envelope.Seal(name, content, append(to, s.Key.Public())...)
	if err != nil {
		return err
	}
	return s.Records.Put(ctx, name, sealed)
}

// open reads the record that seal has made.
//
// Errors: [records.ErrMissing].
func (s *Store) open(ctx context.Context, name string) ([]byte, error) {
	sealed, err := s.Records.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Key.Open(name, sealed)
}

// put records something. One that is there counts.
func (s *Store) put(ctx context.Context, name string, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := s.seal(ctx, name, text); !errors.Is(err, records.ErrExists) {
		return err
	}
	return nil
}

// get reads the record that put has made.
//
// Errors: [records.ErrMissing].
func (s *Store) get(ctx context.Context, name string, into any) error {
	text, err := s.open(ctx, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Keep records a file of a run, which workers read that have the keys of others.
func (s *Store) Keep(ctx context.Context, id, name string, content []byte, to ...envelope.Recipient) error {
	return s.seal(ctx, calls.Folder(id)+name, content, to...)
}

// Kept reads a file of a run.
//
// Errors: [records.ErrMissing].
func (s *Store) Kept(ctx context.Context, id, name string) ([]byte, error) {
	return s.open(ctx, calls.Folder(id)+name)
}

// Begin records a run.
func (s *Store) Begin(ctx context.Context, run *Run) error {
	if err := s.put(ctx, calls.Folder(run.ID)+runName, run); err != nil {
		return err
	}
	return s.put(ctx, indexFolder+run.ID+"/run", run.ID)
}

// Outcome returns the end of a run, nil if it has none.
func (s *Store) Outcome(ctx context.Context, id string) (*Outcome, error) {
	found := &Outcome{}
	err := s.get(ctx, calls.Folder(id)+endedName, found)
	if errors.Is(err, records.ErrMissing) {
		return nil, nil //nolint:nilnil // see above
	}
	return found, err
}

// End records the end of a run.
func (s *Store) End(ctx context.Context, id string, outcome Outcome) error {
	return s.put(ctx, calls.Folder(id)+endedName, outcome)
}

// Cancel asks to stop a run.
func (s *Store) Cancel(ctx context.Context, id string, who Who) error {
	return s.put(ctx, calls.Folder(id)+cancelledName, who)
}

// Cancelled returns who has asked to stop a run, nil if nobody has.
func (s *Store) Cancelled(ctx context.Context, id string) (*Who, error) {
	who := &Who{}
	err := s.get(ctx, calls.Folder(id)+cancelledName, who)
	if errors.Is(err, records.ErrMissing) {
		return nil, nil //nolint:nilnil // see above
	}
	return who, err
}

// question is the name of the records of a question.
func question(unit, round int) string { return fmt.Sprintf("%d-%d", unit, round) }

// Ask records that the plan of a unit waits for approval.
func (s *Store) Ask(ctx context.Context, id string, q Question) error {
	return s.put(ctx, calls.Folder(id)+askedFolder+question(q.Unit, q.Round), q)
}

// Approve records the approval of the plan of a unit.
func (s *Store) Approve(ctx context.Context, id string, unit, round int, approval Approval) error {
	return s.put(ctx, calls.Folder(id)+approvedFolder+question(unit, round), approval)
}

// Approval returns that of the plan of a unit, nil if there is none.
func (s *Store) Approval(ctx context.Context, id string, unit, round int) (*Approval, error) {
	found := &Approval{}
	err := s.get(ctx, calls.Folder(id)+approvedFolder+question(unit, round), found)
	if errors.Is(err, records.ErrMissing) {
		return nil, nil //nolint:nilnil // see above
	}
	return found, err
}

// Open returns the questions of a run that are not answered, by the numbers of their units.
func (s *Store) Open(ctx context.Context, id string) ([]Question, error) {
	asked, err := s.Records.List(ctx, calls.Folder(id)+askedFolder)
	if err != nil {
		return nil, err
	}
	answered, err := s.Records.List(ctx, calls.Folder(id)+approvedFolder)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, name := range answered {
		done[path.Base(name)] = true
	}
	var open []Question
	for _, name := range asked {
		if done[path.Base(name)] {
			continue
		}
		var q Question
		if err := s.get(ctx, name, &q); err != nil {
			return nil, err
		}
		open = append(open, q)
	}
	slices.SortFunc(open, func(a, b Question) int { return a.Unit - b.Unit })
	return open, nil
}

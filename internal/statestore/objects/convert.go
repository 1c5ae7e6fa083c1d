// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"maps"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// toTime is the inverse of fromTime: the zero time for 0.
func toTime(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func fromTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func toHolder(deployment string, l *statelogv1.Lock) *holder {
	info := statestore.LockInfo{
		ID: l.GetId(), Deployment: deployment, Operation: l.GetOperation(), Owner: l.GetOwner(), Host: l.GetHost(),
		PID: int(l.GetPid()), Started: toTime(l.GetStarted()), Seen: toTime(l.GetSeen()), Epoch: l.GetEpoch(),
		Identity: statestore.ProcessIdentity{Scope: l.GetProcessScope(), PID: int(l.GetPid()), Start: l.GetProcessStart()},
	}
	for _, p := range l.GetParts() {
		info.Parts = append(info.Parts, statestore.Part{Path: p.GetPath(), Exclusive: p.GetExclusive()})
	}
	return &holder{info, l.GetEntry()}
}

func fromHolder(h *holder) *statelogv1.Lock {
	i := &h.LockInfo
	l := &statelogv1.Lock{
		Id: i.ID, Operation: i.Operation, Owner: i.Owner, Host: i.Host, Pid: int64(i.PID),
		ProcessScope: i.Identity.Scope, ProcessStart: i.Identity.Start,
		Started: fromTime(i.Started), Seen: fromTime(i.Seen), Epoch: i.Epoch, Entry: h.entry,
	}
	for _, p := range i.Parts {
		l.Parts = append(l.Parts, &statelogv1.Part{Path: p.Path, Exclusive: p.Exclusive})
	}
	return l
}

func toVersion(v *statelogv1.Version) version {
	return version{
		Version: statestore.Version{
			Serial: v.GetSerial(), Operation: v.GetOperation(), Owner: v.GetOwner(), Host: v.GetHost(),
			Started: toTime(v.GetStarted()), Finished: toTime(v.GetFinished()), Changed: v.GetChanged(), Total: v.GetTotal(),
		},
		first: v.GetFirstEntry(), last: v.GetLastEntry(), lock: v.GetLockId(), continues: v.GetContinues(),
	}
}

func fromVersion(v version) *statelogv1.Version {
	return &statelogv1.Version{
		Serial: v.Serial, Operation: v.Operation, Owner: v.Owner, Host: v.Host,
		Started: fromTime(v.Started), Finished: fromTime(v.Finished), Changed: v.Changed, Total: v.Total,
		FirstEntry: v.first, LastEntry: v.last, LockId: v.lock, Continues: v.continues,
	}
}

// toModel returns the model that a snapshot is of.
func toModel(s *statelogv1.Snapshot) (*model, error) {
	m := newModel(s.GetDeployment())
	m.number, m.lineage, m.epoch, m.secret = s.GetNumber(), s.GetLineage(), s.GetEpoch(), s.GetSecret()
	if len(s.GetHash()) != len(m.hash) {
		return nil, errDamaged
	}
	m.hash = hash(s.GetHash())
	for _, l := range s.GetLocks() {
		m.holders = append(m.holders, toHolder(m.deployment, l))
	}
	for i, v := range s.GetVersions() {
		if v.GetSerial() != int64(i+1) {
			return nil, errDamaged
		}
		m.versions = append(m.versions, toVersion(v))
	}
	for _, r := range s.GetRecords() {
		m.records[string(r.GetKey())] = r.GetValue()
	}
	for _, t := range s.GetTouched() {
		m.touched[string(t.GetKey())] = t.GetExisted()
	}
	if int64(len(m.records)) != m.newest().Total {
		return nil, errDamaged
	}
	return m, nil
}

// fromModel returns the snapshot of a model. That of the same log is always the same.
func fromModel(m *model) *statelogv1.Snapshot {
	s := &statelogv1.Snapshot{
		FormatVersion: formatVersion, Deployment: m.deployment, Number: m.number, Hash: m.hash[:], Lineage: m.lineage,
		Epoch: m.epoch, Secret: m.secret,
	}
	for _, h := range m.holders {
		s.Locks = append(s.Locks, fromHolder(h))
	}
	for _, v := range m.versions {
		s.Versions = append(s.Versions, fromVersion(v))
	}
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		s.Records = append(s.Records, &statelogv1.Record{Key: []byte(key), Value: m.records[key]})
	}
	if newest := m.newest(); newest.Unfinished() {
		for _, key := range slices.Sorted(maps.Keys(m.touched)) {
			s.Touched = append(s.Touched, &statelogv1.Touched{Key: []byte(key), Existed: m.touched[key]})
		}
	}
	return s
}

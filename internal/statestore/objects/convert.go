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

func toLock(deployment string, l *statelogv1.Lock) *statestore.LockInfo {
	if l == nil {
		return nil
	}
	return &statestore.LockInfo{
		ID: l.GetId(), Deployment: deployment, Operation: l.GetOperation(), Owner: l.GetOwner(), Host: l.GetHost(),
		PID: int(l.GetPid()), Started: toTime(l.GetStarted()), Seen: toTime(l.GetSeen()), Epoch: l.GetEpoch(),
		Identity: statestore.ProcessIdentity{Scope: l.GetProcessScope(), PID: int(l.GetPid()), Start: l.GetProcessStart()},
	}
}

func fromLock(i *statestore.LockInfo) *statelogv1.Lock {
	if i == nil {
		return nil
	}
	return &statelogv1.Lock{
		Id: i.ID, Operation: i.Operation, Owner: i.Owner, Host: i.Host, Pid: int64(i.PID),
		ProcessScope: i.Identity.Scope, ProcessStart: i.Identity.Start,
		Started: fromTime(i.Started), Seen: fromTime(i.Seen), Epoch: i.Epoch,
	}
}

func toVersion(v *statelogv1.Version) version {
	return version{
		Version: statestore.Version{
			Serial: v.GetSerial(), Operation: v.GetOperation(), Owner: v.GetOwner(), Host: v.GetHost(),
			Started: toTime(v.GetStarted()), Finished: toTime(v.GetFinished()), Changed: v.GetChanged(), Total: v.GetTotal(),
		},
		first: v.GetFirstEntry(), last: v.GetLastEntry(),
	}
}

func fromVersion(v version) *statelogv1.Version {
	return &statelogv1.Version{
		Serial: v.Serial, Operation: v.Operation, Owner: v.Owner, Host: v.Host,
		Started: fromTime(v.Started), Finished: fromTime(v.Finished), Changed: v.Changed, Total: v.Total,
		FirstEntry: v.first, LastEntry: v.last,
	}
}

// toModel returns the model that a snapshot is of.
func toModel(s *statelogv1.Snapshot) (*model, error) {
	m := newModel(s.GetDeployment())
	m.number, m.lineage, m.lockEntry, m.epoch = s.GetNumber(), s.GetLineage(), s.GetLockEntry(), s.GetEpoch()
	m.holder, m.secret = toLock(m.deployment, s.GetLock()), s.GetSecret()
	if len(s.GetHash()) != len(m.hash) {
		return nil, errDamaged
	}
	m.hash = hash(s.GetHash())
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
		Lock: fromLock(m.holder), LockEntry: m.lockEntry, Epoch: m.epoch, Secret: m.secret,
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

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package clientfile reads and writes the files in which clients of the RPC API keep plans and
// states (proto/tfstacksagent1), so that plans and states made over the API can be shown, applied
// and stored by the command line, and the reverse.
package clientfile

import (
	"errors"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/proto/tfstacksagent1"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// formatVersion is that of all files.
const formatVersion = 1

// ErrOther means that a file is none that a client has written.
var ErrOther = errors.New("not a file of a client of the RPC API")

// ReadPlan reads a plan. The context that it was made with has the state.
//
// Errors: [ErrOther]; those of [stackplan.ElementReader]; those of reading the file.
func ReadPlan(path string) (*stackplan.Plan, stackplan.FileContext, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, stackplan.FileContext{}, ErrOther
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, stackplan.FileContext{}, err
	}
	var file tfstacksagent1.StackPlan
	if err := proto.Unmarshal(raw, &file); err != nil || file.GetFormatVersion() != formatVersion || len(file.GetPlannedChanges()) == 0 {
		return nil, stackplan.FileContext{}, ErrOther
	}
	var reader stackplan.ElementReader
	for _, change := range file.GetPlannedChanges() {
		for _, element := range change.GetRaw() {
			if err := reader.Add(element); err != nil {
				return nil, stackplan.FileContext{}, err
			}
		}
	}
	plan, made, err := reader.Plan()
	if err != nil {
		return nil, made, err
	}
	if made.Prior, err = stackstate.FromElements(reader.Prior()); err != nil {
		return nil, made, fmt.Errorf("the state that the plan was made with: %w", err)
	}
	return plan, made, nil
}

// ReadState returns the records of a state.
//
// Errors: [ErrOther]; the state is from another program, or damaged.
func ReadState(raw []byte) (map[string][]byte, error) {
	var file tfstacksagent1.StackState
	if err := proto.Unmarshal(raw, &file); err != nil || file.GetFormatVersion() != formatVersion {
		return nil, ErrOther
	}
	records := make(map[string][]byte, len(file.GetRaw()))
	for key, element := range file.GetRaw() {
		record, err := stackstate.DecodeElement(key, element)
		if err != nil {
			return nil, err
		}
		records[key] = record
	}
	return records, nil
}

// WriteState returns the file of a state without descriptions, which are for clients to show, and
// come with the next apply.
//
// Errors: the state has records of kinds that this version does not know.
func WriteState(records map[string][]byte) ([]byte, error) {
	file := &tfstacksagent1.StackState{FormatVersion: formatVersion, Raw: make(map[string]*anypb.Any, len(records))}
	for key, record := range records {
		element, err := stackstate.EncodeElement(key, record)
		if err != nil {
			return nil, fmt.Errorf("state record %q: %w", key, err)
		}
		file.Raw[key] = element
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(file)
}

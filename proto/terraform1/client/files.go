// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/proto/tfstacksagent1"
)

// formatVersion is that of the files that are written and read here.
const formatVersion = 1

// WriteFile writes the plan to a file of the format that runners of stacks use. The file can have
// secrets, and is for its owner alone.
func (p *Plan) WriteFile(path string) error {
	return writeMessage(path, "plan", &tfstacksagent1.StackPlan{FormatVersion: formatVersion, PlannedChanges: p.Changes, PlanMode: p.Mode})
}

// ReadPlan reads a file that [Plan.WriteFile] wrote. The plan has no diagnostics.
func ReadPlan(path string) (*Plan, error) {
	message := &tfstacksagent1.StackPlan{}
	if err := readMessage(path, "plan", message); err != nil {
		return nil, err
	}
	return &Plan{Mode: message.GetPlanMode(), Changes: message.GetPlannedChanges()}, nil
}

// WriteFile writes the state to a file of the format that runners of stacks use. An earlier file is
// replaced at once, or not at all. The file can have secrets, and is for its owner alone.
func (s *State) WriteFile(path string) error {
	return writeMessage(path, "state", &tfstacksagent1.StackState{FormatVersion: formatVersion, Raw: s.Raw, Descriptions: s.Descriptions})
}

// ReadState reads a file that [State.WriteFile] wrote.
//
// Errors: as of [os.ReadFile], such as [io/fs.ErrNotExist]; the file is no state.
func ReadState(path string) (*State, error) {
	message := &tfstacksagent1.StackState{}
	if err := readMessage(path, "state", message); err != nil {
		return nil, err
	}
	return &State{Raw: message.GetRaw(), Descriptions: message.GetDescriptions()}, nil
}

// writeMessage writes a file beside the one that it then replaces.
func writeMessage(path, what string, message proto.Message) error {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err == nil {
		err = replaceFile(path, content)
	}
	return wrap("writing the "+what, err)
}

func replaceFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func readMessage(path, what string, message interface {
	proto.Message
	GetFormatVersion() int64
},
) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return wrap("reading the "+what, err)
	}
	if err := proto.Unmarshal(content, message); err != nil {
		return fmt.Errorf("reading the %s: %s is no %s of a stack: %w", what, path, what, err)
	}
	if version := message.GetFormatVersion(); version != formatVersion {
		return fmt.Errorf("reading the %s: %s has version %d of the format, and only %d can be read", what, path, version, formatVersion)
	}
	return nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// partSize is that of the pieces in which a plan file is sent.
const partSize = 1 << 20

// planModes are the modes of plan files.
var planModes = map[planv1.Mode]Mode{
	planv1.Mode_MODE_NORMAL:       ModeNormal,
	planv1.Mode_MODE_REFRESH_ONLY: ModeRefreshOnly,
	planv1.Mode_MODE_DESTROY:      ModeDestroy,
}

// FromPlanFile reads a plan file that cairn's command plan has written, as a plan that can be
// applied over the API. The state is the one that it was made with, which the file does not have:
// that of the command "state pull".
//
// The reverse needs no function: the commands read the files of [Plan.WriteFile] and
// [State.WriteFile].
func FromPlanFile(path string, prior *State) (*Plan, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, wrap("reading the plan file", err)
	}
	index, err := planIndex(content)
	if err != nil {
		return nil, fmt.Errorf("reading the plan file: %s is not a plan file: %w", path, err)
	}
	var elements []proto.Message
	if prior != nil {
		for _, key := range slices.Sorted(maps.Keys(prior.Raw)) {
			elements = append(elements, &planv1.PriorRecord{Key: key, Value: prior.Raw[key]})
		}
	}
	for part := range slices.Chunk(content, partSize) {
		elements = append(elements, &planv1.PlanFilePart{Data: part})
	}
	plan := &Plan{Mode: planModes[index.GetMode()]}
	for _, message := range elements {
		element, err := anypb.New(message)
		if err != nil {
			return nil, wrap("reading the plan file", err)
		}
		plan.Changes = append(plan.Changes, &stackspb.PlannedChange{Raw: []*anypb.Any{element}})
	}
	plan.Changes = append(plan.Changes, &stackspb.PlannedChange{Descriptions: []*stackspb.PlannedChange_ChangeDescription{{
		Description: &stackspb.PlannedChange_ChangeDescription_PlanApplyable{PlanApplyable: index.GetApplyable()},
	}}})
	return plan, nil
}

// planIndex returns the index of a plan file. The server checks whether the file is whole.
func planIndex(content []byte) (*planv1.Plan, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	file, err := archive.Open("index.pb")
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(file)
	index := &planv1.Plan{}
	return index, errors.Join(err, file.Close(), proto.Unmarshal(raw, index))
}

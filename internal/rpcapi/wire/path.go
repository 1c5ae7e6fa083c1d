// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Paths returns messages for paths. A step that no message can express, such as the element of a
// set, is left out with all that follows.
func Paths(paths []cty.Path) []*stackspb.AttributePath {
	var messages []*stackspb.AttributePath
	for _, path := range paths {
		messages = append(messages, attributePath(path))
	}
	return messages
}

func attributePath(path cty.Path) *stackspb.AttributePath {
	message := &stackspb.AttributePath{}
	for _, step := range path {
		sent := attributeStep(step)
		if sent == nil {
			break
		}
		message.Steps = append(message.Steps, sent)
	}
	return message
}

// attributeStep returns nil for a step that cannot be sent.
func attributeStep(step cty.PathStep) *stackspb.AttributePath_Step {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_AttributeName{AttributeName: step.Name}}
	case cty.IndexStep:
		key, _ := step.Key.Unmark()
		if !key.IsKnown() || key.IsNull() {
			return nil
		}
		switch key.Type() {
		case cty.String:
			return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_ElementKeyString{ElementKeyString: key.AsString()}}
		case cty.Number:
			if index, accuracy := key.AsBigFloat().Int64(); accuracy == big.Exact {
				return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_ElementKeyInt{ElementKeyInt: index}}
			}
		}
	}
	return nil
}

// ParsePaths returns the paths that a client has sent.
func ParsePaths(messages []*stackspb.AttributePath) ([]cty.Path, error) {
	var paths []cty.Path
	for _, message := range messages {
		path := make(cty.Path, 0, len(message.GetSteps()))
		for _, step := range message.GetSteps() {
			switch selector := step.GetSelector().(type) {
			case *stackspb.AttributePath_Step_AttributeName:
				path = append(path, cty.GetAttrStep{Name: selector.AttributeName})
			case *stackspb.AttributePath_Step_ElementKeyString:
				path = append(path, cty.IndexStep{Key: cty.StringVal(selector.ElementKeyString)})
			case *stackspb.AttributePath_Step_ElementKeyInt:
				path = append(path, cty.IndexStep{Key: cty.NumberIntVal(selector.ElementKeyInt)})
			default:
				return nil, fmt.Errorf("a step of an attribute path selects nothing")
			}
		}
		paths = append(paths, path)
	}
	return paths, nil
}

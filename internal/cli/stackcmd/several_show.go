// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/groups"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

// show begins to show a phase of the work on a deployment.
func (s *several) show(member, phase string, options *operation.Options) driver.View {
	streams := session.Streams{}
	var output *show.NodeOutput // nil with -json
	if s.display == nil {
		streams.Out, streams.Err = &memberLines{to: s.Streams.Out, mu: &s.json, member: member}, s.Streams.Err
	} else {
		output = s.display.Output.Node(member)
		output.Phase(phase)
		streams.Out, streams.Err = output.Out, output.Err
	}
	part := s.Part(member, streams, options)
	part.Options.JSON = s.Options.JSON
	return s.shown.Open(part, member, phase, ShownConcisely(s.flags.concise), output)
}

// memberLines adds the name of a deployment to lines that are JSON objects, each of which is
// written by one call.
type memberLines struct {
	to     io.Writer
	mu     *sync.Mutex // of all deployments
	member string
}

// Write implements [io.Writer].
func (w *memberLines) Write(text []byte) (int, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return 0, fmt.Errorf("a line of JSON cannot be completed: %w", err)
	}
	name, err := json.Marshal(w.member)
	if err != nil {
		return 0, err
	}
	object["deployment"] = name
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.to.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// detail adds to the state of a deployment the number of its changes, the reason, and the next
// step.
func (s *several) detail(end groups.End) string {
	var parts []string
	if end.Counts != nil && end.State != groups.Failed {
		if end.State == groups.Applied || end.State == groups.Destroyed || end.State == groups.InPart {
			mode := "apply"
			if end.State == groups.Destroyed {
				mode = "destroy"
			}
			parts = append(parts, eventtext.AppliedCounts(mode, *end.Counts))
		} else {
			parts = append(parts, eventtext.PlanCounts(*end.Counts))
		}
	}
	if end.Detail != "" {
		parts = append(parts, end.Detail)
	}
	if end.State == groups.Waiting && s.request.ApproveLater {
		parts = append(parts, "to apply it: cairn apply "+s.Stack().Env().WaitingPlan(end.Member))
	}
	return strings.Join(parts, "; ")
}

// summarize shows how everything ended and returns the exit code.
func (s *several) summarize(ends []groups.End) (int, error) {
	code := s.exitCode(ends)
	if s.display == nil {
		return code, s.summarizeJSON(ends)
	}
	width, name := 0, 0
	counts := map[groups.State]int{}
	for _, end := range ends {
		width, name = max(width, len(end.State)), max(name, len(end.Member))
		counts[end.State]++
	}
	s.Print("\n")
	for _, end := range ends {
		line := fmt.Sprintf("%-*s  %-*s", width, end.State, name, end.Member)
		if detail := s.detail(end); detail != "" {
			line += "  (" + safetext.Name(detail) + ")"
		}
		s.Print("%s\n", strings.TrimRight(line, " "))
	}
	var parts []string
	for _, state := range groups.States {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], strings.Replace(string(state), "no changes", "without changes", 1)))
		}
	}
	s.Print("\n%d deployments: %s.\n", len(ends), strings.Join(parts, ", "))
	return code, nil
}

func (s *several) summarizeJSON(ends []groups.End) error {
	events := jsonview.NewEvents(s.Streams.Out, nil)
	var all []jsonview.DeploymentEnd
	for _, end := range ends {
		one := jsonview.DeploymentEnd{
			Deployment: end.Member,
			Group:      end.Group,
			State:      strings.ReplaceAll(string(end.State), " ", "_"),
			Detail:     end.Detail,
			Changes:    end.Counts,
		}
		if end.State == groups.Waiting && s.request.ApproveLater {
			one.Plan = s.Stack().Env().WaitingPlan(end.Member)
		}
		all = append(all, one)
	}
	events.DeploymentsSummary(s.request.mode, all)
	return events.Err()
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// DeploymentCommand returns the command deployment with all below it.
func DeploymentCommand() *session.Command {
	return &session.Command{
		Name:     "deployment",
		Summary:  "Shows the deployments of the stack.",
		Example:  "cairn deployment list",
		Commands: []*session.Command{deploymentListCommand(), deploymentShowCommand()},
	}
}

func deploymentFlags(f *session.Flags) {
	session.StateFlag(f)
	session.JSONFlag(f, "write a JSON document")
}

func deploymentListCommand() *session.Command {
	var names bool
	return &session.Command{
		Name:    "list",
		Summary: "Lists the deployments of the stack, and the content of their states.",
		Long:    "First come those that are declared, as they are written, and then those of which there is only a state.",
		Example: "cairn deployment list\ncairn deployment list -json",
		Flags: func(f *session.Flags) {
			f.BoolVar(&names, "names", false, "print only the names, one a line")
			deploymentFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			states, diags := s.Stack().States().List(ctx)
			if diags.HasErrors() {
				return s.Finish(diags)
			}
			if s.Options.JSON {
				doc := deploymentsDocument{FormatVersion: document.FormatVersion, Deployments: []deploymentEntry{}}
				for _, state := range states {
					doc.Deployments = append(doc.Deployments, newDeploymentEntry(state))
				}
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, doc, true)
			}
			if names {
				for _, state := range states {
					s.Print("%s\n", state.Name)
				}
				return cmdline.ExitOK, nil
			}
			return listDeployments(s, states)
		},
	}
}

func listDeployments(s *session.Session, states []declared.Deployment) (int, error) {
	if len(states) == 0 {
		s.Note("There are no deployments: no file declares one, and nothing was applied.\n")
		return cmdline.ExitOK, nil
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DEPLOYMENT\tGROUP\tSERIAL\tLAST CHANGED\tRESOURCES")
	for _, state := range states {
		name, group, serial, changed := state.Name, "(not declared)", "-", "-"
		if state.Declared != nil {
			if group = state.Declared.Group; state.Automatic {
				group = "-"
			}
			if state.Declared.Destroy {
				name += " (destroy)"
			}
		}
		if state.Last.Serial > 0 {
			serial, changed = fmt.Sprint(state.Last.Serial), state.Last.Started.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\n", name, group, serial, changed, state.Objects)
	}
	if err := table.Flush(); err != nil {
		return 0, err
	}
	s.Print("%s", b.String())
	return cmdline.ExitOK, nil
}

func deploymentShowCommand() *session.Command {
	return &session.Command{
		Name:    "show",
		Args:    "DEPLOYMENT",
		Summary: "Shows a deployment, and the values that the stack has published with it.",
		Example: "cairn deployment show prod",
		MinArgs: 1, MaxArgs: 1,
		Flags: deploymentFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			state, diags := s.Stack().States().Find(ctx, args[0])
			if diags.HasErrors() {
				return s.Finish(diags)
			}
			entry := newDeploymentEntry(state)
			if s.Options.JSON {
				entry.FormatVersion = document.FormatVersion
				entry.addPublished(state)
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, entry, true)
			}
			return cmdline.ExitOK, showDeployment(s, state)
		},
	}
}

func showDeployment(s *session.Session, state declared.Deployment) error {
	s.Print("Deployment:   %s\n", state.Name)
	switch {
	case state.Declared == nil:
		s.Print("Declared:     no\n")
	case state.Automatic:
		s.Print("Group:        none\n")
	default:
		s.Print("Group:        %s\n", state.Declared.Group)
	}
	if state.Declared != nil && state.Declared.Destroy {
		s.Print("Destroy:      yes, with the next apply\n")
	}
	if state.Last.Serial == 0 {
		s.Print("State:        nothing was applied\n")
	} else {
		s.Print("Serial:       %d\nLast changed: %s by %s, for %q\nComponents:   %d\nResources:    %d\n", state.Last.Serial,
			state.Last.Started.Local().Format(time.DateTime), state.Last.Owner, state.Last.Operation, state.Components, state.Objects)
	}
	if state.Published.At.IsZero() {
		return nil
	}
	s.Print("\nPublished with it, %s:\n", state.Published.At.Local().Format(time.DateTime))
	out := s.Streams.Out
	return views.WriteOutputs(out, state.Published.Values, s.ViewOptions(out))
}

// deploymentsDocument is the output of "deployment list -json".
type deploymentsDocument struct {
	FormatVersion string            `json:"format_version"`
	Deployments   []deploymentEntry `json:"deployments"`
}

// deploymentEntry is a deployment there, and the output of "deployment show -json".
type deploymentEntry struct {
	FormatVersion string     `json:"format_version,omitempty"`
	Name          string     `json:"name"`
	Declared      bool       `json:"declared"`
	Group         string     `json:"group,omitempty"`
	Destroy       bool       `json:"destroy"`
	Serial        int64      `json:"serial"` // 0 if nothing was applied
	Operation     string     `json:"operation,omitempty"`
	Plan          string     `json:"plan,omitempty"`
	ApprovedBy    string     `json:"approved_by,omitempty"`
	LastChanged   *time.Time `json:"last_changed,omitempty"`
	Components    int        `json:"components"`
	Resources     int        `json:"resources"`

	PublishedAt *time.Time                `json:"published_at,omitempty"`
	Published   map[string]publishedValue `json:"published,omitempty"`
}

type publishedValue struct {
	Sensitive bool `json:"sensitive"`
	Value     any  `json:"value,omitempty"` // left out where any part is sensitive
}

func newDeploymentEntry(state declared.Deployment) deploymentEntry {
	entry := deploymentEntry{
		Name: state.Name, Declared: state.Declared != nil, Serial: state.Last.Serial, Components: state.Components, Resources: state.Objects,
	}
	cause := deployment.CauseOf(state.Last)
	entry.Operation, entry.Plan, entry.ApprovedBy = cause.Operation, cause.Plan, cause.ApprovedBy
	if state.Declared != nil {
		entry.Group, entry.Destroy = state.Declared.Group, state.Declared.Destroy
	}
	if state.Last.Serial > 0 {
		at := state.Last.Started.UTC()
		entry.LastChanged = &at
	}
	return entry
}

func (e *deploymentEntry) addPublished(state declared.Deployment) {
	if state.Published.At.IsZero() {
		return
	}
	at := state.Published.At.UTC()
	e.PublishedAt, e.Published = &at, map[string]publishedValue{}
	for name, value := range state.Published.Values {
		e.Published[name] = newPublishedValue(value)
	}
}

func newPublishedValue(value cty.Value) publishedValue {
	if marks.Contains(value, marks.Sensitive) {
		return publishedValue{Sensitive: true}
	}
	return publishedValue{Value: document.NewOutput(value)}
}

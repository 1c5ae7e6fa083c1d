// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func showCommand() *session.Command {
	return &session.Command{
		Name:    "show",
		Args:    "ADDRESS",
		Summary: "Shows a component instance or a resource instance.",
		Long:    "With -json, sensitive values are part of the document.",
		Example: "cairn state show component.network\ncairn state show 'component.network[\"eu\"].aws_vpc.main'",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			stored, err := s.Stack().States().ReadToShow(ctx)
			if err != nil {
				return 0, err
			}
			target, err := stored.Find(args[0])
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, writeTargetDocument(s, stored, target)
			}
			out := s.Streams.Out
			if target.Resource == "" {
				return cmdline.ExitOK, views.WriteComponentState(out, target.Component, s.ViewOptions(out))
			}
			objects, err := target.Objects()
			if err != nil {
				return 0, err
			}
			for _, object := range objects {
				if err := views.WriteResourceState(out, object, s.ViewOptions(out)); err != nil {
					return 0, err
				}
			}
			return cmdline.ExitOK, nil
		},
	}
}

// targetDocument is the output of "state show -json": a component, or the objects of one resource
// instance.
type targetDocument struct {
	FormatVersion string                   `json:"format_version"`
	Component     *document.StateComponent `json:"component,omitempty"`
	Resources     []document.StateResource `json:"resources,omitempty"`
}

func writeTargetDocument(s *session.Session, stored *deployment.Stored, target deployment.Target) error {
	only := stackstate.New()
	only.Components[target.Component.Addr] = target.Component
	state, err := document.NewState(only, document.Version{Serial: uint64(stored.Serial), Lineage: stored.Lineage})
	if err != nil {
		return err
	}
	doc := targetDocument{FormatVersion: document.FormatVersion}
	if target.Resource == "" {
		doc.Component = &state.Components[0]
		return document.WriteDocument(s.Streams.Out, doc, true)
	}
	for _, resource := range state.Components[0].Resources {
		if resource.Address == target.Resource {
			doc.Resources = append(doc.Resources, resource)
		}
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}

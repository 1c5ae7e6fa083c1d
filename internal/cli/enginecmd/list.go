// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginecmd

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
)

// engineList is the output of "engine list -json".
type engineList struct {
	FormatVersion string              `json:"format_version"`
	Engines       []listedEngine      `json:"engines"` // in the order in which they are looked at
	Requirements  []listedRequirement `json:"requirements"`
	Reason        string              `json:"reason"` // why the selected one is used, or none
	InstallDir    string              `json:"install_dir"`
}

type listedEngine struct {
	Name     string           `json:"name"` // empty for a program that is not an engine
	Version  string           `json:"version"`
	Path     string           `json:"path"`
	Origin   toolchain.Origin `json:"origin"`
	Usable   bool             `json:"usable"`
	Problem  string           `json:"problem,omitempty"` // of an engine that is not usable
	Selected bool             `json:"selected"`
}

type listedRequirement struct {
	Engine  string `json:"engine,omitempty"` // missing if about both
	Version string `json:"version"`
	Place   string `json:"place"`
}

func listCommand() *session.Command {
	return &session.Command{
		Name:    "list",
		Summary: "Lists the terraform and tofu binaries that were found, and says which one is used, and why.",
		Long: `
They are listed in the order in which they are looked at: the one that -engine, CAIRN_ENGINE or cairn.hcl names;
tofu and terraform from PATH; those that "cairn engine install" has installed, the newest first. The first one that is
new enough and has a version that cairn.hcl and .terraform-version accept is used. Where an engine is named,
.terraform-version is advice.`,
		Example: "cairn engine list\ncairn engine list -json",
		Flags: func(f *session.Flags) {
			session.EngineFlags(f)
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			list, err := listEngines(ctx, s)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, list, true)
			}
			return cmdline.ExitOK, showEngines(s, list)
		},
	}
}

func listEngines(ctx context.Context, s *session.Session) (*engineList, error) {
	search, err := s.Stack().Engines().Search()
	if err != nil {
		return nil, err
	}
	all, chosen, err := search.All(ctx)
	if err != nil {
		return nil, err
	}
	list := &engineList{
		FormatVersion: document.FormatVersion,
		Engines:       []listedEngine{},
		Requirements:  []listedRequirement{},
		InstallDir:    search.Home,
	}
	for _, c := range all {
		listed := listedEngine{
			Name:     c.Info.Name,
			Version:  c.Info.Version,
			Path:     c.Path,
			Origin:   c.Origin,
			Usable:   c.Err == nil,
			Selected: c == chosen,
		}
		if c.Err != nil {
			listed.Problem = c.Err.Error()
		}
		list.Engines = append(list.Engines, listed)
	}
	for _, r := range search.Requirements {
		list.Requirements = append(list.Requirements, listedRequirement{r.Program, r.Constraint.String(), r.Place})
	}
	if chosen != nil {
		list.Reason = whyChosen(s, search, chosen)
	} else if _, err := search.Find(ctx); err != nil {
		list.Reason = operation.Diagnostics(engines.Unusable(err))[0].Detail
	}
	return list, nil
}

// whyChosen returns the reason for using a binary.
func whyChosen(s *session.Session, search toolchain.Search, chosen *toolchain.Candidate) string {
	_, place := s.Stack().Engines().Setting()
	first := "the first one that can be used"
	switch {
	case chosen.Origin == toolchain.FromSetting:
		return place + " names it"
	case search.Setting != "":
		first = fmt.Sprintf("%s names %s, and this is %s", place, search.Setting, first)
	}
	if chosen.Origin == toolchain.Installed {
		return first + "; it was installed by \"cairn engine install\""
	}
	return first + "; it is on PATH"
}

func showEngines(s *session.Session, list *engineList) error {
	table := tabwriter.NewWriter(s.Streams.Out, 0, 0, 2, ' ', 0)
	selected, program := "", ""
	for _, e := range list.Engines {
		mark := " "
		if e.Selected {
			mark, selected, program = "*", e.Name+" "+e.Version, e.Name
		}
		fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\n", mark, cmp.Or(e.Name, "?"), cmp.Or(e.Version, "?"), e.Origin, e.Path)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, e := range list.Engines {
		if !e.Usable {
			s.Print("Not usable: %s.\n", e.Problem)
		}
	}
	for _, r := range list.Requirements {
		s.Print("Required by %s: %s %s\n", r.Place, cmp.Or(r.Engine, "any engine"), cmp.Or(r.Version, "of any version"))
	}
	if selected == "" {
		s.Print("None is used: %s\n", list.Reason)
		return nil
	}
	used := "Used"
	switch s.Stack().Engines().Kind() {
	case engines.Auto:
		used = "Used where the native engine lacks something"
	case engines.Native:
		used = "Not used, as the native engine was named, but first"
	}
	s.Print("%s: %s, %s.\n", used, selected, list.Reason)
	if text := s.Stack().Engines().VersionFileIgnored(program); text != "" {
		s.Print("%s\n", text)
	}
	return nil
}

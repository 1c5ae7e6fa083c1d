// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/operation/engines"
)

// versionEngines is the part about engines in the output of "version -v -json".
type versionEngines struct {
	Setting   string                `json:"setting"` // that the choice follows from: "native", "auto", "terraform" or "tofu"
	Reason    document.EngineReason `json:"reason"`
	Available []versionEngine       `json:"available"`
	Modules   []versionModule       `json:"modules"`
}

// versionEngine is an engine that is there.
type versionEngine struct {
	Name        string           `json:"name"` // empty for a program that is not an engine
	Version     string           `json:"version"`
	Follows     string           `json:"follows,omitempty"`      // the version of terraform that it behaves like
	FollowsOld  string           `json:"follows_old,omitempty"`  // for modules that exclude that one
	FollowsTofu string           `json:"follows_tofu,omitempty"` // the version of OpenTofu, for modules of that
	Path        string           `json:"path,omitempty"`
	Origin      toolchain.Origin `json:"origin,omitempty"`
	Problem     string           `json:"problem,omitempty"` // why it cannot be used
}

// versionModule is the engine of a module of the stack.
type versionModule struct {
	Source string           `json:"source"`
	Engine *document.Engine `json:"engine"` // null if no engine does it
	Error  string           `json:"error,omitempty"`
}

func newVersionEngines(choices *engines.Choices) *versionEngines {
	why := document.NewEngine(choices.Native, choices.Reason).Reason
	engines := &versionEngines{
		Setting: choices.Setting, Reason: *why, Modules: []versionModule{},
		Available: []versionEngine{{
			Name: choices.Native.Name, Version: choices.Native.Version, Follows: choices.Follows,
			FollowsOld: choices.FollowsOld, FollowsTofu: choices.FollowsTofu,
		}},
	}
	for _, c := range choices.Binaries {
		one := versionEngine{Name: c.Info.Name, Version: c.Info.Version, Path: c.Path, Origin: c.Origin}
		if c.Err != nil {
			one.Problem = c.Err.Error()
		}
		engines.Available = append(engines.Available, one)
	}
	for _, m := range choices.Modules {
		one := versionModule{Source: m.Source}
		if m.Diags.HasErrors() {
			one.Error = m.Diags.Errs()[0].Error()
		} else {
			engine := document.NewEngine(m.Engine, m.Reason)
			one.Engine = &engine
		}
		engines.Modules = append(engines.Modules, one)
	}
	return engines
}

// showVersionEngines writes nothing if nobody has asked for the engines.
func showVersionEngines(s *session.Session, engines *versionEngines) error {
	if engines == nil {
		return nil
	}
	s.Print("\nEngines:\n")
	table := tabwriter.NewWriter(s.Streams.Out, 0, 0, 2, ' ', 0)
	for _, e := range engines.Available {
		place := e.Path
		if e.Follows != "" {
			place = fmt.Sprintf("part of cairn, behaves like terraform %s, or %s for modules that exclude it, and OpenTofu %s for its modules",
				e.Follows, e.FollowsOld, e.FollowsTofu)
		}
		if e.Problem != "" {
			place += " (not usable: " + e.Problem + ")"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", cmp.Or(e.Name, "?"), cmp.Or(e.Version, "?"), place)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if engines.Setting != "" {
		s.Print("Used: %s. %s\n", engines.Setting, engines.Reason.Text)
	}
	if len(engines.Modules) == 0 {
		return nil
	}
	s.Print("\nModules:\n")
	for _, m := range engines.Modules {
		if m.Engine == nil {
			fmt.Fprintf(table, "  %s\tnone\t%s\n", m.Source, m.Error)
			continue
		}
		fmt.Fprintf(table, "  %s\t%s %s\t%s\n", m.Source, m.Engine.Name, m.Engine.Version, m.Engine.Reason)
	}
	return table.Flush()
}

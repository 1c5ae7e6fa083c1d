// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show"
)

// StatusCommand returns the command that shows how all deployments stand.
func StatusCommand() *session.Command {
	var options treeOptions
	return &session.Command{
		Name:    "status",
		Args:    "[DIR]",
		Summary: "Shows how the stacks of a repository stand: last applies, locks, approvals, drift.",
		Long: `
Each deployment of the stacks that "cairn list" lists has a row, and so has one that only has a state. Nothing is locked, written or
run. Drift is what "cairn run drift" has found last, on this machine; of a root module only a state in a file is looked at. With DIR
it is the same as in that directory. The exit code is 1 if a state cannot be read; its row says why, and all others are shown.`,
		Example: "cairn status\ncairn status -tags=prod\ncairn status -json -query='prod and not dir:live/prod/db'",
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			treeFlags(f, &options)
			session.JSONFlag(f, "write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			if len(args) == 1 {
				if err := os.Chdir(args[0]); err != nil {
					return 0, failure.Error("Unusable directory", "The directory %s cannot be used: %s.", args[0], failure.Reason(err))
				}
			}
			src, err := openStacks(ctx, s, options)
			if err != nil {
				return 0, err
			}
			units := overview.Read(ctx, overview.Options{Units: src.Listed(), Stack: operation.Options{Env: s.StackOptions().Env}})
			status := cmdline.ExitOK
			if slices.ContainsFunc(units, func(u overview.Unit) bool { return u.Err != nil }) {
				status = cmdline.ExitError
			}
			if s.Options.JSON {
				return status, document.WriteDocument(s.Streams.Out, newStatusDocument(s, units, src.Diags), true)
			}
			if err := s.Report(src.Diags); err != nil {
				return 0, err
			}
			if len(units) == 0 && len(src.Diags) == 0 {
				s.NoteLine("There is nothing to show: %s", options.nothing(""))
				return status, nil
			}
			return status, writeStatus(s, units, time.Now())
		},
	}
}

func writeStatus(s *session.Session, units []overview.Unit, now time.Time) error {
	if len(units) == 0 {
		return nil
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tLAST CHANGED\tAGE\tBY\tSERIAL\tCOMPONENTS\tOBJECTS\tDRIFT\tSTATUS")
	for i := range units {
		u := &units[i]
		changed, age, by, serial, components, objects := "-", "-", "-", "-", "-", "-"
		if last := u.State.Last; last.Serial > 0 {
			changed, age, serial = last.Started.Local().Format(time.DateTime), show.Age(now.Sub(last.Started)), fmt.Sprint(last.Serial)
			if last.Owner != "" {
				by = safetext.Name(last.Owner) + "@" + safetext.Name(last.Host)
			}
		}
		if u.State.Known {
			objects = fmt.Sprint(u.State.Objects)
			if u.Workspace == "" && u.Deployment != "" {
				components = fmt.Sprint(u.State.Components)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", safetext.Name(u.Name), changed, age, by, serial, components, objects,
			driftText(u, now), statusText(u))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	s.Print("%s", b.String())
	for i := range units {
		if problem := units[i].Problem(); problem != nil {
			s.NoteLine("%s: %s: %s", units[i].Name, problem.Summary, problem.Detail)
		}
	}
	return nil
}

// driftText is the result of the last search for drift, in a column.
func driftText(u *overview.Unit, now time.Time) string {
	switch {
	case u.Drift == nil:
		return "not looked for"
	case u.Outdated():
		return "not since the apply"
	case u.Drift.Found:
		return fmt.Sprintf("%d found, %s", len(u.Drift.Objects), show.Ago(now.Sub(u.Drift.At)))
	}
	return "none, " + show.Ago(now.Sub(u.Drift.At))
}

// statusText has the concerns in a column.
func statusText(u *overview.Unit) string {
	var texts []string
	for _, concern := range u.Concerns() {
		if concern.Kind != overview.Drifted { // which has a column
			texts = append(texts, safetext.Name(concern.Text))
		}
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, "; ")
	case u.State.Last.Serial == 0:
		return "nothing was applied"
	}
	return "ok"
}

// statusDocument is the output of "status -json".
type statusDocument struct {
	FormatVersion string                  `json:"format_version"`
	Units         []statusUnit            `json:"units"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

type statusUnit struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"` // "stack" or "terraform"
	Path       string   `json:"path"`
	Directory  string   `json:"directory"`
	Deployment string   `json:"deployment,omitempty"`
	Workspace  string   `json:"workspace,omitempty"`
	Group      string   `json:"deployment_group,omitempty"`
	Groups     []string `json:"groups,omitempty"`
	Tags       []string `json:"tags"`
	Declared   bool     `json:"declared"`
	Destroy    bool     `json:"destroy"`

	State      string           `json:"state"`              // its location
	Unread     string           `json:"unread,omitempty"`   // why the state of a root module was not read
	Last       *document.Serial `json:"last,omitempty"`     // missing if nothing was applied
	Finished   *time.Time       `json:"finished,omitempty"` // of it; missing while it runs, or if it was cut off
	AgeSeconds *int64           `json:"age_seconds,omitempty"`
	Components int              `json:"components"`
	Objects    int              `json:"objects"`
	Running    bool             `json:"running"`
	CutOff     bool             `json:"cut_off"`
	Begun      []string         `json:"plans_begun,omitempty"` // identities of saved plans that were applied in part

	Doubts  map[string][]string `json:"in_doubt,omitempty"` // resource instances, by component
	Lost    []string            `json:"lost_journals,omitempty"`
	Locks   []document.Lock     `json:"locks"`
	Waiting *statusWaiting      `json:"waiting,omitempty"` // for approval
	Drift   *statusDrift        `json:"drift"`             // null if it was not looked for here

	Status []statusConcern        `json:"status"`
	Error  *diagnostic.Diagnostic `json:"error,omitempty"`
}

type statusWaiting struct {
	File  string    `json:"file"`
	Saved time.Time `json:"saved"`
}

type statusDrift struct {
	driver.LastDrift
	Outdated bool `json:"outdated"` // something was applied since
}

type statusConcern struct {
	Kind overview.Kind `json:"kind"`
	Text string        `json:"text"`
}

func newStatusDocument(s *session.Session, units []overview.Unit, diags hcl.Diagnostics) statusDocument {
	doc := statusDocument{FormatVersion: document.FormatVersion, Units: []statusUnit{}, Diagnostics: diagnostic.All(diags, s.Sources())}
	now := time.Now()
	for i := range units {
		doc.Units = append(doc.Units, newStatusUnit(s, &units[i], now))
	}
	return doc
}

func newStatusUnit(s *session.Session, u *overview.Unit, now time.Time) statusUnit {
	unit := statusUnit{
		Name: u.Name, Type: string(u.Kind), Path: u.Path, Directory: u.Directory, Deployment: u.Deployment, Workspace: u.Workspace,
		Group: u.Group, Groups: u.Groups, Tags: append([]string{}, u.Tags...), Declared: u.Declared, Destroy: u.Destroy,
		State: u.Place, Unread: u.State.Unread, Components: u.State.Components, Objects: u.State.Objects,
		Running: u.State.Running(), CutOff: u.State.CutOff(), Begun: u.State.Begun,
		Doubts: u.State.Remembered.Doubts, Lost: u.State.Remembered.Lost, Locks: []document.Lock{}, Status: []statusConcern{},
	}
	if last := u.State.Last; last.Serial > 0 {
		serial, age := operation.DescribeSerial(last), int64(now.Sub(last.Started).Seconds())
		unit.Last, unit.AgeSeconds = &serial, &age
		if !last.Unfinished() {
			finished := last.Finished.UTC()
			unit.Finished = &finished
		}
	}
	for _, holder := range u.State.Holders {
		unit.Locks = append(unit.Locks, document.NewLock(holder))
	}
	if u.Waiting != nil {
		unit.Waiting = &statusWaiting{u.Waiting.File, u.Waiting.Saved.UTC()}
	}
	if u.Drift != nil {
		unit.Drift = &statusDrift{*u.Drift, u.Outdated()}
	}
	for _, concern := range u.Concerns() {
		unit.Status = append(unit.Status, statusConcern(concern))
	}
	if problem := u.Problem(); problem != nil {
		unit.Error = &diagnostic.All(hcl.Diagnostics{problem}, s.Sources())[0]
	}
	return unit
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/blame"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
)

// BlameCommand returns the command that says who has given attributes their values.
func BlameCommand() *session.Command {
	return &session.Command{
		Name:    "blame",
		Args:    "ADDRESS",
		Summary: "Shows since when the attributes of an object have their values, and by which operation and plan.",
		Long: `
The address is that of a resource instance, or of a component instance for its outputs and all objects in it. A dash is in the
place of an attribute that is not set any more. What is or ever was sensitive is withheld, also with -json. An object can be looked
at that is gone, and one that was moved is another one from then on.`,
		Example: "cairn blame component.network.aws_vpc.main\ncairn blame -json -deployment=prod 'component.network[\"eu\"]'",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			objects, err := blame.Of(ctx, s.Stack().States(), args[0])
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, newBlameDocument(objects), true)
			}
			return cmdline.ExitOK, writeBlame(s, objects)
		},
	}
}

// blameDocument is the output of "blame -json".
type blameDocument struct {
	FormatVersion string        `json:"format_version"`
	Objects       []blameObject `json:"objects"`
}

type blameObject struct {
	Address    string           `json:"address"`
	Gone       *document.Serial `json:"gone,omitempty"` // of an object that the state has no more
	Attributes []blameAttribute `json:"attributes"`
}

type blameAttribute struct {
	Path      string          `json:"path"`
	Sensitive bool            `json:"sensitive"`        // then no value is here
	Value     any             `json:"value,omitempty"`  // missing for an attribute that is not set any more
	Before    any             `json:"before,omitempty"` // missing if it had no other one
	Set       bool            `json:"set"`
	Since     document.Serial `json:"since"`
	Earlier   bool            `json:"earlier,omitempty"` // the serials before were dropped, and it may be older
}

func newBlameDocument(objects []blame.Object) blameDocument {
	doc := blameDocument{FormatVersion: document.FormatVersion, Objects: []blameObject{}}
	for _, object := range objects {
		entry := blameObject{Address: object.Address, Attributes: []blameAttribute{}}
		if object.Gone != nil {
			gone := operation.DescribeSerial(*object.Gone)
			entry.Gone = &gone
		}
		for _, a := range object.Attributes {
			attribute := blameAttribute{
				Path: a.Path, Sensitive: a.IsHidden(), Set: a.Value != nil, Since: operation.DescribeSerial(a.Since), Earlier: a.Earlier,
			}
			if !attribute.Sensitive {
				attribute.Value, attribute.Before = a.Value, a.Before
			}
			entry.Attributes = append(entry.Attributes, attribute)
		}
		doc.Objects = append(doc.Objects, entry)
	}
	return doc
}

// mostLetters is the width of the columns with values.
const mostLetters = 40

func writeBlame(s *session.Session, objects []blame.Object) error {
	var b strings.Builder
	for i, object := range objects {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(safetext.Name(object.Address))
		if gone := object.Gone; gone != nil {
			fmt.Fprintf(&b, " (gone since serial %d)", gone.Serial)
		}
		b.WriteString("\n")
		if len(object.Attributes) == 0 {
			b.WriteString("  has no attributes\n")
			continue
		}
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ATTRIBUTE\tVALUE\tBEFORE\tSERIAL\tSINCE\tBY\tOPERATION\tPLAN")
		for _, a := range object.Attributes {
			cause := deployment.CauseOf(a.Since)
			serial := fmt.Sprint(a.Since.Serial)
			if a.Earlier {
				serial += " or earlier"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s@%s\t%s\t%s\n",
				safetext.Name(a.Path), blameText(a.Value, a.Sensitive), blameText(a.Before, a.Sensitive), serial,
				a.Since.Started.Local().Format(time.DateTime), safetext.Name(a.Since.Owner), safetext.Name(a.Since.Host),
				safetext.Name(cause.WithoutPlan()), cmp.Or(cause.Plan, "-"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	s.Print("%s", b.String())
	return nil
}

func blameText(value, sensitive any) string {
	if value == nil {
		return "-"
	}
	return valuediff.Line(valuediff.FromJSON(value, sensitive), mostLetters)
}

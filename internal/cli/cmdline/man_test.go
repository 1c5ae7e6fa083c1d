// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestManPages(t *testing.T) {
	program := New(Program[*options]{
		Root: &command{
			Name: "tool", Summary: "Does things.",
			Commands: []*command{
				{
					Name:    "build",
					Args:    "[FILE…]",
					Summary: "Builds.",
					Long:    ".tool files and C:\\x; don't.\n\n.a  table\n'b  table",
					Example: "tool build -x\n.tool",
					Run:     nothing,
					Flags: func(f *flags) {
						f.StringVar(&f.Session.text, "text", "", "print this `\"TEXT\"`")
						f.BoolVar(&f.Session.yes, "yes", false, "do not ask")
					},
				},
				{Name: "pick", Summary: "Picks.", Foreign: true, Run: nothing},
			},
		},
		NewSession: func() *options { return new(options) },
		Global:     func(f *flags) { f.StringVar(&f.Session.dir, "dir", "", "go to `DIR`") },
	})
	got := program.ManPages(ManOrigin{Version: "v1.0", Date: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)})
	const global = `.SH OPTIONS OF ALL COMMANDS
.TP
.BI \-dir= "DIR"
go to DIR
`
	want := map[string]string{
		"tool.1": `.TH "TOOL" 1 "2026\-11\-30" "tool v1.0"
.SH NAME
tool \- Does things
.SH SYNOPSIS
.B tool
COMMAND [options]
.SH DESCRIPTION
Does things.
.SH COMMANDS
.TP
.BR tool\-build (1)
Builds.
.SH COMMANDS FOR FILES OF OTHER PROGRAMS
.TP
.BR tool\-pick (1)
Picks.
` + global,
		"tool-build.1": `.TH "TOOL\-BUILD" 1 "2026\-11\-30" "tool v1.0"
.SH NAME
tool\-build \- Builds
.SH SYNOPSIS
.B tool build
[options] [FILE\[u2026]]
.SH DESCRIPTION
Builds.
.PP
\&.tool files and C:\ex; don\(aqt.
.PP
.nf
\&.a  table
\&\(aqb  table
.fi
.SH OPTIONS
.TP
.BI \-text= "\(dqTEXT\(dq"
print this "TEXT"
.TP
.B \-yes
do not ask
` + global + `.SH EXAMPLE
.nf
tool build \-x
\&.tool
.fi
.SH SEE ALSO
.BR tool (1)
`,
		"tool-pick.1": `.TH "TOOL\-PICK" 1 "2026\-11\-30" "tool v1.0"
.SH NAME
tool\-pick \- Picks
.SH SYNOPSIS
.B tool pick
[options]
.SH DESCRIPTION
Picks.
` + global + `.SH SEE ALSO
.BR tool (1)
`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("pages differ (-want +got):\n%s", diff)
	}
}

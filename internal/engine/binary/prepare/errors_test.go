// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestInitFailed(t *testing.T) {
	const said = `There are some problems with the CLI configuration:
╷
│ Warning: Unable to open CLI configuration file
│
│ The CLI configuration file at "/nowhere" does not exist.
╵

Error: Failed to query available provider packages

Could not retrieve the list of available versions for provider
hashicorp/one: no available releases match the given constraints ~> 99.0

To see which modules are currently depending on hashicorp/one and what
versions are specified, run the following command:
    terraform providers

Error: Failed to query available provider packages

Could not retrieve the list of available versions for provider
example.com/foo/two: it was not found in any of the search locations

  - /mirror
`
	one := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "one"}
	two := stackaddrs.Provider{Hostname: "example.com", Namespace: "foo", Type: "two"}
	for name, test := range map[string]struct {
		said   string
		ranges map[stackaddrs.Provider]hcl.Range
		want   []string // file and a part of each
	}{
		"required by the stack": {
			said,
			map[stackaddrs.Provider]hcl.Range{one: {Filename: "1"}, two: {Filename: "2"}},
			[]string{
				"1: terraform init: Could not retrieve the list of available versions for provider hashicorp/one: no available releases match the given constraints ~> 99.0",
				"2: terraform init: Could not retrieve the list of available versions for provider example.com/foo/two: it was not found in any of the search locations",
			},
		},
		"required by a module": {
			said,
			map[stackaddrs.Provider]hcl.Range{two: {Filename: "2"}},
			[]string{
				": terraform init: Could not retrieve the list of available versions for provider hashicorp/one: no available releases match the given constraints ~> 99.0",
				"2: terraform init: Could not retrieve the list of available versions for provider example.com/foo/two: it was not found in any of the search locations",
			},
		},
		"the CLI configuration": {"Error: Invalid block\n\nThere is no block x.", nil, []string{": terraform init failed: exit status 1."}},
		"something else":        {"Out of memory", nil, []string{": terraform init failed: exit status 1."}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Preparer{}
			p.opts.Info.Name = "terraform"
			var got []string
			for _, diag := range p.initFailed(nil, []byte(test.said), errors.New("exit status 1"), &engine.PrepareRequest{Ranges: test.ranges}) {
				file := ""
				if diag.Subject != nil {
					file = diag.Subject.Filename
				}
				first, _, _ := strings.Cut(diag.Detail, "\n")
				got = append(got, file+": "+first)
				if strings.Contains(diag.Detail, "terraform providers") {
					t.Errorf("there is advice for another program: %s", diag.Detail)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An endless line is not shown as a whole, wherever the engine prints it.
func TestEndlessLineIsShortened(t *testing.T) {
	endless := "first " + strings.Repeat("é", 100_000) + " last"
	p := &Preparer{}
	for name, got := range map[string]string{
		"init":  p.initFailed(nil, []byte(endless), io.EOF, &engine.PrepareRequest{})[0].Detail,
		"error": p.initFailed(nil, []byte("Error: provider "+endless), io.EOF, &engine.PrepareRequest{})[0].Detail,
		"plan":  command.LastLines(endless, 20),
	} {
		if len(got) > 6000 || !strings.Contains(got, "first é") || !strings.Contains(got, "é last") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, want the beginning and the end", name, len(got))
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

func component(t *testing.T, text string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func checkMerged(t *testing.T, diags hcl.Diagnostics, want ...string) {
	t.Helper()
	var got []string
	for _, diag := range Merge(diags) {
		got = append(got, strings.TrimSpace(identity.Address(diag)+" "+diag.Summary+": "+strings.ReplaceAll(diag.Detail, "\n\n", " ")))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged diagnostics (-want +got):\n%s", diff)
	}
}

func TestProviderDiagnosticsAreMerged(t *testing.T) {
	t.Parallel()
	said := func(severity hcl.DiagnosticSeverity, summary, config string, components ...string) *hcl.Diagnostic {
		var addrs []stackaddrs.AbsComponentInstance
		for _, text := range components {
			addrs = append(addrs, component(t, text))
		}
		return &hcl.Diagnostic{
			Severity: severity, Summary: summary, Subject: &hcl.Range{Filename: "main.tfcomponent.hcl"},
			Extra: AboutProvider(config, addrs...),
		}
	}
	denied := func(request string) string { return "Denied, RequestID: " + request }
	const main, eu, says = "provider.aws.main", `provider.aws.main["eu"]`, "The provider says so about the configuration"
	checkMerged(
		t, hcl.Diagnostics{
			said(hcl.DiagError, denied("f2a1c6c0-5f3e-4a7b-9d55-0d1c6f0a2b11"), main, "component.b"),
			said(hcl.DiagError, denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc33"), main, "component.a"),
			said(hcl.DiagError, "No such account", main, "component.a"),
			said(hcl.DiagError, denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc34"), eu, "component.a"),
			{Summary: "Something else"},
			said(hcl.DiagWarning, "Old block", main),
			said(hcl.DiagWarning, "Old argument", main),
			said(hcl.DiagWarning, "Old argument", eu, "component.a"),
			said(hcl.DiagWarning, "Old argument", `provider.aws.main["us"]`, "component.a"),
			said(hcl.DiagWarning, "Old argument", main),
		},
		denied("f2a1c6c0-5f3e-4a7b-9d55-0d1c6f0a2b11")+": "+says+" provider.aws.main, which component.a and component.b use.",
		"component.a No such account: "+says+" provider.aws.main, which component.a uses.",
		"component.a "+denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc34")+": "+says+` provider.aws.main["eu"], which component.a uses.`,
		"Something else:",
		"Old block: "+says+" provider.aws.main.",
		"component.a Old argument: "+says+`s provider.aws.main["eu"] and provider.aws.main["us"], which component.a uses.`,
	)
}

func TestWarningsAboutComponentsAreMerged(t *testing.T) {
	t.Parallel()
	about := func(severity hcl.DiagnosticSeverity, summary, addr string, line int) *hcl.Diagnostic {
		return &hcl.Diagnostic{
			Severity: severity, Summary: summary, Detail: "Use another.",
			Subject: &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line}},
			Extra:   fault.Address{Component: component(t, addr)},
		}
	}
	diags := hcl.Diagnostics{
		about(hcl.DiagError, "Refused", `component.c["b"]`, 1),
		about(hcl.DiagError, "Refused", `component.c["a"]`, 1),
		about(hcl.DiagWarning, "Old argument", `component.c["b"]`, 1),
		about(hcl.DiagWarning, "Old argument", `component.c["a"]`, 1),
		about(hcl.DiagWarning, "Old argument", `component.c["a"]`, 1),
		about(hcl.DiagWarning, "Old argument", `component.c["a"]`, 2),
		{Severity: hcl.DiagWarning, Summary: "Old argument"},
	}
	checkMerged(
		t, slices.Clone(diags),
		`component.c["b"] Refused: Use another.`,
		`component.c["a"] Refused: Use another.`,
		`Old argument: Use another. This is about component.c["a"] and component.c["b"].`,
		`component.c["a"] Old argument: Use another.`,
		"Old argument:",
	)
	if diags[2].Detail != "Use another." {
		t.Error("Merge has changed a diagnostic")
	}
}

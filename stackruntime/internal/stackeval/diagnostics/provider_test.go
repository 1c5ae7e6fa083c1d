// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

func TestProviderDiagnosticsAreMerged(t *testing.T) {
	t.Parallel()
	const config = `provider["registry.terraform.io/hashicorp/aws"].main`
	said := func(config, component, summary string) *hcl.Diagnostic {
		addr, err := stackaddrs.ParseAbsProviderConfigInstance(config)
		if err != nil {
			t.Fatal(err)
		}
		of, err := stackaddrs.ParseAbsComponentInstance(component)
		if err != nil {
			t.Fatal(err)
		}
		return &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: summary, Subject: &hcl.Range{Filename: "main.tfcomponent.hcl"},
			Extra: AboutProvider(addr, of, "provider.aws.main"),
		}
	}
	denied := func(request string) string { return "Denied, RequestID: " + request }
	merged := MergeProviders(hcl.Diagnostics{
		said(config, "component.b", denied("f2a1c6c0-5f3e-4a7b-9d55-0d1c6f0a2b11")),
		said(config, "component.a", denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc33")),
		said(config, "component.a", "No such account"),
		said(config+`["eu"]`, "component.a", denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc34")),
		{Summary: "Something else"},
	})
	var got []string
	for _, diag := range merged {
		got = append(got, diag.Summary+": "+diag.Detail)
	}
	const says = "The provider says so about the configuration provider.aws.main, which "
	want := []string{
		denied("f2a1c6c0-5f3e-4a7b-9d55-0d1c6f0a2b11") + ": " + says + "component.a and component.b use.",
		"No such account: " + says + "component.a uses.",
		denied("0b9d2f6e-4c3a-4b0f-8a55-aa11bb22cc34") + ": " + says + "component.a uses.",
		"Something else: ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged diagnostics (-want +got):\n%s", diff)
	}
}

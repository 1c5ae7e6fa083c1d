// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

func TestRow239LockCheck(t *testing.T) {
	cloud := stackaddrs.Provider{Hostname: "example.com", Namespace: "corp", Type: "cloud"}
	other := stackaddrs.Provider{Hostname: "example.com", Namespace: "corp", Type: "other"}
	locked := func(version string) map[stackaddrs.Provider]string {
		return map[stackaddrs.Provider]string{cloud: version}
	}
	for name, test := range map[string]struct {
		locks      map[stackaddrs.Provider]string
		provider   stackaddrs.Provider
		constraint string
		want       string
	}{
		"allowed":            {locked("1.4.0"), cloud, "~> 1.2, != 1.3.0", ""},
		"without constraint": {locked("1.4.0"), cloud, "", ""},
		"not allowed":        {locked("1.4.0"), cloud, ">= 2.0.0", "Locked provider version not acceptable"},
		"excluded":           {locked("1.4.0"), cloud, "~> 1.2, != 1.4.0", "Locked provider version not acceptable"},
		"missing":            {locked("1.4.0"), other, "~> 1.2", "Provider not locked"},
		"empty file":         {map[stackaddrs.Provider]string{}, cloud, "~> 1.2", "Provider not locked"},
		"built-in":           {locked("1.4.0"), stackaddrs.BuiltinProvider, "", ""},
		"no lock file":       {nil, cloud, ">= 2.0.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			requirement := &stackconfig.ProviderRequirement{LocalName: "p", Provider: test.provider, Version: test.constraint}
			s := &StackConfig{main: &Main{locks: test.locks}, decl: &stackconfig.Stack{RequiredProviders: &stackconfig.ProviderRequirements{
				Providers: map[string]*stackconfig.ProviderRequirement{"p": requirement},
			}}}
			block := hcl.Range{Filename: "main.tfcomponent.hcl"}
			diags := s.checkLock(test.provider, &block)
			got := ""
			for _, diag := range diags {
				got += diag.Summary
				if diag.Severity != hcl.DiagError || diag.Subject != &block {
					t.Errorf("%s: got severity %v at %v, want an error at the block", diag.Summary, diag.Severity, diag.Subject)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

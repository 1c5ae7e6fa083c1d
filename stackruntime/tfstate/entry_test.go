// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import "testing"

func TestProviderName(t *testing.T) {
	for address, want := range map[string]string{
		`provider["terraform.io/builtin/terraform"]`:                 "terraform.io/builtin/terraform",
		`module.m.provider["registry.terraform.io/a/b"].west`:        "registry.terraform.io/a/b",
		`provider["registry.terraform.io/hashicorp/random"].by["x"]`: "registry.terraform.io/hashicorp/random",
		`provider.aws`: "provider.aws",
	} {
		if got := (Object{Provider: address}).ProviderName(); got != want {
			t.Errorf("the name of %s is %q, want %q", address, got, want)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestOptionsOf(t *testing.T) {
	for info, want := range map[engine.Info]module.Options{
		{Name: "terraform", Version: "1.13.0"}: {Terraform: "1.13.0"},
		{Name: "tofu", Version: "1.11.0"}:      {Tofu: true},
		{Name: "native", Version: "1"}:         {Terraform: "1.16.0", ForTofu: true}, // whatever its own version is
		{}:                                     {ForTofu: true},
	} {
		got := module.OptionsOf(info, "dir", nil)
		if got.Terraform != want.Terraform || got.Tofu != want.Tofu || got.ForTofu != want.ForTofu || got.Base != "dir" {
			t.Errorf("OptionsOf(%+v) = %+v, want %+v", info, got, want)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/failure"
)

func TestUpperFirst(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"nothing was found", "Nothing was found"},
		{"main.tfcomponent.hcl: not a plan", "main.tfcomponent.hcl: not a plan"},
		{"plan: not a plan", "plan: not a plan"},
		{"dir/plan cannot be read", "dir/plan cannot be read"},
		{`dir\plan cannot be read`, `dir\plan cannot be read`},
		{"interrupted", "Interrupted"},
	} {
		if got := failure.Capitalize(test.text); got != test.want {
			t.Errorf("failure.Capitalize(%q): got %q, want %q", test.text, got, test.want)
		}
	}
}

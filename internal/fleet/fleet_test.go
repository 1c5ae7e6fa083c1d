// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleet

import "testing"

// Directories are shown as users would type them: from where they are, or from the directory that
// they named.
func TestShown(t *testing.T) {
	for _, test := range []struct {
		place     Place
		dir, want string
	}{
		{Place{Root: ".", Below: "/"}, "/", "."},
		{Place{Root: ".", Below: "/"}, "/live/app", "live/app"},
		{Place{Root: "..", Below: "/live"}, "/live/app", "app"},
		{Place{Root: "..", Below: "/live"}, "/modules", "../modules"},
		{Place{Root: "../.."}, "/live/app", "../../live/app"}, // the user is outside of it
		{Place{Root: "repository"}, "live", "repository/live"},
	} {
		if got := test.place.Shown(test.dir); got != test.want {
			t.Errorf("%+v: %s is shown as %q, want %q", test.place, test.dir, got, test.want)
		}
	}
}

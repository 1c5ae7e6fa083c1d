// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package locations

import "testing"

func TestShown(t *testing.T) {
	t.Setenv("PGHOST", "the-host")
	t.Setenv("PGPORT", "5000")
	t.Setenv("PGDATABASE", "the-database")
	t.Setenv("PGPASSWORD", "secret")
	for location, want := range map[string]string{
		"states/cairn.db": "states/cairn.db",
		"postgres://u:secret@h:1/d?schema=s&password=secret":   "postgres://h:1/d?schema=s",
		"postgresql:///d?host=/run/postgresql&passfile=secret": "postgresql:///d?host=%2Frun%2Fpostgresql",
		"postgres://?schema=s":                                 "postgres://the-host:5000/the-database?schema=s",
		"postgres://u:secret@h:x/d":                            "postgres://…",
	} {
		if got := Shown(location); got != want {
			t.Errorf("%s is shown as %s, want %s", location, got, want)
		}
	}
}

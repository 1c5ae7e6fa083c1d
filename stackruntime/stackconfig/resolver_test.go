// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import "testing"

func TestParseSource(t *testing.T) {
	for written, want := range map[string]string{
		"./m":                               "./m",
		"acme/x/aws":                        "registry.terraform.io/acme/x/aws",
		"example.com/acme/pets":             "example.com/acme/pets",
		"github.com/acme/x//m?ref=v1":       "git::https://github.com/acme/x.git//m?ref=v1",
		"git::ssh://git@example.com/x.git":  "git::ssh://git@example.com/x.git",
		"git::ssh://a@b.com:22/x.git//m":    "git::ssh://a@b.com:22/x.git//m",
		"git@example.com:x.git//m?ref=v1":   "git::ssh://git@example.com/x.git//m?ref=v1",
		"git::git@example.com:acme/x.git":   "git::ssh://git@example.com/acme/x.git",
		"https://example.com/x?archive=tgz": "https://example.com/x?archive=tgz",
	} {
		got, err := ParseSource(written)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %v, %v, want %s", written, got, err, want)
			continue
		}
		if again, err := ParseSource(got.String()); err != nil || again.String() != want {
			t.Errorf("%s: parsed again, got %v, %v", got, again, err)
		}
	}
	for _, written := range []string{
		"", "x", " ./m", "m/../x", "git::ssh://git:password@example.com/x.git", "git::https://user@example.com/x.git",
		"git::http://example.com/x.git", "git::file:///x.git", "https://example.com/x.zip", "git::https://example.com/x.git?depth=1",
		"git::ssh://git@example.com/x.git?depth=1", "git::ssh://git@example.com/x.git//../y",
	} {
		if got, err := ParseSource(written); err == nil {
			t.Errorf("%q: got %s, want an error", written, got)
		}
	}
}

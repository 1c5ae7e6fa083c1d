// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAddressesOfPaths(t *testing.T) {
	remote := func(address string) *preparedPackage {
		return &preparedPackage{lockedPackage: lockedPackage{packageID: packageID{Kind: remoteKind, Address: address}}}
	}
	module := func(root string) *preparedPackage {
		return &preparedPackage{
			lockedPackage: lockedPackage{packageID: packageID{moduleKind, "example.com/ns/m/aws", "1.2.0"}}, Root: root,
		}
	}
	for _, test := range []struct {
		pkg         *preparedPackage
		below, want string
	}{
		{remote("git::https://example.com/x.git"), "a/main.tf", "git::https://example.com/x.git//a/main.tf"},
		{remote("git::https://example.com/x.git?ref=v1"), "a/main.tf", "git::https://example.com/x.git//a/main.tf?ref=v1"},
		{remote("https://example.com/x.tgz"), "main.tf", "https://example.com/x.tgz//main.tf"},
		{module(""), "a/main.tf", "example.com/ns/m/aws@1.2.0//a/main.tf"},
		{module("modules/a"), "modules/a/main.tf", "example.com/ns/m/aws@1.2.0//main.tf"},
		{module("modules/a"), "modules/b/main.tf", "example.com/ns/m/aws@1.2.0//../b/main.tf"},
		{module("modules/a"), "main.tf", "example.com/ns/m/aws@1.2.0//../../main.tf"},
	} {
		got := test.pkg.addressOf(test.below)
		if got != test.want {
			t.Errorf("%s in %s: got %s, want %s", test.below, test.pkg, got, test.want)
		}
		if back, ok := test.pkg.pathOf(got); !ok || back != test.below {
			t.Errorf("%s: got back %q, %v, want %s", got, back, ok, test.below)
		}
	}
	if got := remote("git::https://example.com/x.git?ref=v1").addressOf(""); got != "git::https://example.com/x.git?ref=v1" {
		t.Errorf("got %s for the package itself", got)
	}
	if _, ok := remote("git::https://example.com/x.git?ref=v1").pathOf("git::https://example.com/x.git//main.tf"); ok {
		t.Error("the address of another package was taken for one of this")
	}
}

func TestDirectoryNames(t *testing.T) {
	for id, want := range map[packageID]string{
		{Kind: remoteKind, Address: "git::https://example.com/acme/x.git?ref=v1"}: "x-",
		{Kind: remoteKind, Address: "https://example.com/net.tar.gz"}:             "net-",
		{Kind: remoteKind, Address: "https://example.com/?archive=tgz"}:           "-",
		{moduleKind, "example.com/acme/vpc/aws", "1.2.0+meta"}:                    "vpc-aws-1.2.0-meta-",
		{componentKind, "example.com/acme/pets", "0.0.1"}:                         "pets-0.0.1-",
	} {
		got, other := dirName(id, "h1:a"), dirName(id, "h1:b")
		if !strings.HasPrefix(got, want) || len(got) != len(want)+12 {
			t.Errorf("%s: got %s, want %s and 12 digits", id, got, want)
		}
		if got == other {
			t.Errorf("%s: other content has the same directory", id)
		}
	}
}

func TestLockFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFileName)
	packages := []lockedPackage{
		{packageID{moduleKind, "example.com/a/b/c", "1.10.0"}, "", "h1:x"},
		{packageID{moduleKind, "example.com/a/b/c", "1.9.0"}, strings.Repeat("a", 40), "h1:y"},
		{packageID{componentKind, "example.com/a/b", "1.0.0"}, "", "h1:z"},
		{packageID{remoteKind, `https://example.com/x.tgz?a=${b}&"`, ""}, "", "h1:u"},
	}
	if err := writeLockFile(path, packages); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if older, newer := strings.Index(string(first), `"1.9.0"`), strings.Index(string(first), `"1.10.0"`); older < 0 || older > newer {
		t.Errorf("versions are not in order:\n%s", first)
	}
	got, err := readLockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range packages {
		if got[want.packageID] != want {
			t.Errorf("got %+v, want %+v", got[want.packageID], want)
		}
	}
}

func TestNewest(t *testing.T) {
	versions := []string{"1.9.0", "1.10.0", "2.0.0-rc1", "0.1.0", "not a version"}
	for constraint, want := range map[string]string{
		"": "1.10.0", "~> 1.0": "1.10.0", "< 1.10": "1.9.0", "2.0.0-rc1": "2.0.0-rc1", "> 5": "", ">= 0.1, != 1.10.0": "1.9.0",
	} {
		if got, err := newest(versions, constraint); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", constraint, got, err, want)
		}
	}
	if _, err := newest(versions, "about 1"); err == nil {
		t.Error("an unreadable constraint was accepted")
	}
}

func TestPruneKeepsWhatMayBeInUse(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for _, name := range []string{"kept", "just-replaced", "long-replaced", ".new-1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		old := now.Add(-48 * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	named := func(names ...string) (packages []preparedPackage) {
		for _, name := range names {
			packages = append(packages, preparedPackage{Dir: name})
		}
		return packages
	}
	if err := prune(dir, named("kept", "just-replaced"), named("kept"), now); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"kept": true, "just-replaced": true, "long-replaced": false, ".new-1": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if err := prune(dir, named("kept"), named("kept"), now.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "just-replaced")); err == nil {
		t.Error("what was not needed for a day is still there")
	}
}

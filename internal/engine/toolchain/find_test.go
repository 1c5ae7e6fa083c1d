// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/release/releasetest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// machine is a directory with programs: path/ is on PATH, home/ is for installed toolchain.
type machine struct {
	t   *testing.T
	dir string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	m := &machine{t, t.TempDir()}
	t.Setenv("PATH", filepath.Join(m.dir, "path"))
	return m
}

// add writes a program with the contents of output.
func (m *machine) add(name string, output []byte) string {
	m.t.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, output, 0o755); err != nil { //nolint:gosec // a program
		m.t.Fatal(err)
	}
	return path
}

func (m *machine) search(setting string, required ...Requirement) Search {
	return Search{
		Setting:      setting,
		Requirements: required,
		Home:         filepath.Join(m.dir, "home"),
		Identifier:   Identifier{Environ: os.Environ(), RecordFile: filepath.Join(m.dir, "engine.json")},
	}
}

func TestFindFollowsOrder(t *testing.T) {
	requires := func(program, text string) Requirement {
		return Requirement{Program: program, Constraint: constraint(t, text), Place: "cairn.hcl:1"}
	}
	advises := func(text string) Requirement {
		advice := requires(Terraform, text)
		advice.Advisory = true
		return advice
	}
	all := []string{
		"path/tofu 1.11.5", "path/terraform 1.11.4", "other/engine 1.12.0",
		"home/tofu/1.12.0/tofu 1.12.0", "home/tofu/1.12.10/tofu 1.12.10", "home/terraform/1.14.0/terraform 1.14.0",
	}
	tests := map[string]struct {
		programs []string // path below the directory, version
		setting  string
		required []Requirement
		want     string // path below the directory
	}{
		"tofu from PATH":                   {all, "", nil, "path/tofu"},
		"terraform from PATH":              {all[1:], "", nil, "path/terraform"},
		"the newest installed one":         {all[3:], "", nil, "home/tofu/1.12.10/tofu"},
		"installed terraform":              {all[5:], "", nil, "home/terraform/1.14.0/terraform"},
		"a file":                           {all, "other/engine", nil, "other/engine"},
		"a program's name":                 {all, "terraform", nil, "path/terraform"},
		"a program that is installed only": {[]string{all[0], all[5]}, "terraform", nil, "home/terraform/1.14.0/terraform"},
		"too old on PATH":                  {[]string{"path/tofu 1.10.9", all[3]}, "", nil, "home/tofu/1.12.0/tofu"},
		"version not accepted on PATH":     {all, "", []Requirement{requires("", ">= 1.12")}, "home/tofu/1.12.10/tofu"},
		"newest installed not accepted":    {all, "tofu", []Requirement{requires("tofu", "= 1.12.0")}, "home/tofu/1.12.0/tofu"},
		"requirement of the other program": {all, "", []Requirement{requires("terraform", "1.14.0")}, "path/tofu"},
		"requirement of terraform": {
			all,
			"terraform",
			[]Requirement{requires("terraform", "1.14.0")},
			"home/terraform/1.14.0/terraform",
		},
		"two requirements": {
			all,
			"",
			[]Requirement{requires("", ">= 1.12"), requires("", "< 1.12.10")},
			"home/tofu/1.12.0/tofu",
		},
		"advice that one follows":  {all, "terraform", []Requirement{advises("1.14.0")}, "home/terraform/1.14.0/terraform"},
		"advice that none follows": {all, "terraform", []Requirement{advises("1.15.0")}, "path/terraform"},
		"advice about a file":      {all, "other/engine", []Requirement{advises("1.15.0")}, "other/engine"},
		"advice and a requirement": {
			all,
			"terraform",
			[]Requirement{advises("1.11.4"), requires("", ">= 1.12")},
			"home/terraform/1.14.0/terraform",
		},
		"development build of what it wants": {[]string{"path/tofu 1.12.6-dev"}, "", []Requirement{requires("", ">= 1.12.6")}, "path/tofu"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			for _, program := range test.programs {
				path, v, _ := strings.Cut(program, " ")
				m.add(path, releasetest.Program(strings.TrimSuffix(filepath.Base(path), "engine"), v))
			}
			setting := test.setting
			if strings.Contains(setting, "/") {
				setting = filepath.Join(m.dir, setting)
			}
			got, err := m.search(setting, test.required...).Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(m.dir, test.want); got.Path != want {
				t.Errorf("Find: got %s, want %s", got.Path, want)
			}
			all, chosen, err := m.search(setting, test.required...).All(t.Context())
			if err != nil || chosen == nil || chosen.Path != got.Path {
				t.Errorf("All: got %v, %v, %v, want the same as Find", all, chosen, err)
			}
		})
	}
}

// isNotInstalled reports whether the fault of an error is that programs have to be installed.
func isNotInstalled(err error, programs ...string) bool {
	named, ok := fault.OfError(err).(fault.Named)
	return ok && named.Code == CodeNotInstalled && slices.Equal(named.Names, programs)
}

func TestFindFailures(t *testing.T) {
	m := newMachine(t)
	if _, err := m.search("").Find(t.Context()); !errors.Is(err, ErrNone) || !isNotInstalled(err) {
		t.Errorf("Find without any: got %v, want that none is installed", err)
	}
	for setting, want := range map[string]string{"nowhere": `"nowhere" was not found`, "tofu": `no version of it is installed`} {
		var missing *NotFoundError
		_, err := m.search(setting).Find(t.Context())
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) || (setting == "tofu") != isNotInstalled(err, "tofu") {
			t.Errorf("Find of %s: got %v, want %q", setting, err, want)
		}
	}

	old := m.add("path/tofu", releasetest.Program(Tofu, "1.10.9"))
	m.add("path/terraform", releasetest.Program(Terraform, "1.11.4"))
	required := Requirement{Constraint: constraint(t, ">= 1.12"), Place: "cairn.hcl:3"}
	_, err := m.search("", required).Find(t.Context())
	var tooOld *TooOldError
	var unaccepted *UnacceptedError
	if !errors.As(err, &tooOld) || tooOld.Path != old || !errors.As(err, &unaccepted) ||
		unaccepted.Info != (engine.Info{Name: Terraform, Version: "1.11.4"}) {
		t.Errorf("Find without one that can be used: got %v", err)
	}

	// A broken binary is not passed over.
	m.add("path/tofu", []byte("#!/bin/sh\nexit 3\n"))
	if _, err := m.search("").Find(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Find with a broken tofu: got %v", err)
	}
	all, chosen, err := m.search("").All(t.Context())
	if err != nil || len(all) != 2 || chosen != nil {
		t.Errorf("All with a broken tofu: got %v, chosen %v, %v", all, chosen, err)
	}
}

// Whatever else is in the directory of installed engines, only whole installations count.
func TestInstalledPassesOverTheRest(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{
		"home/tofu/1.12.0/LICENSE", "home/tofu/latest/tofu", "home/tofu/1.13.0", "home/.installing-1/tofu", "home/other/1.12.0/other",
	} {
		m.add(name, releasetest.Program(Tofu, "1.12.0"))
	}
	if got, err := m.search("").Find(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("Find: got %v, %v, want none", got, err)
	}
}

func TestConstraintAccepts(t *testing.T) {
	for _, test := range []struct {
		constraint, version string
		want                bool
	}{
		{"", "1.0.0", true},
		{"latest", "1.0.0", true},
		{"1.11.4", "1.11.4", true},
		{"v1.11.4", "1.11.4", true},
		{"1.11.4", "1.11.5", false},
		{">= 1.9, < 2", "1.12.6", true},
		{">= 1.9, < 2", "2.0.0", false},
		{"~> 1.11.0", "1.12.0", false},
		{">= 1.12", "1.12.0-dev", true},
		{"1.12.0", "1.12.0-dev", true},
		{"1.12.0-rc1", "1.12.0-rc1", true},
		{"1.12.0-rc1", "1.12.0", false},
		{"1.12.0-rc1", "1.12.0-rc2", false},
	} {
		if got := constraint(t, test.constraint).Accepts(version.Must(version.NewVersion(test.version))); got != test.want {
			t.Errorf("%q accepts %s: got %t, want %t", test.constraint, test.version, got, test.want)
		}
	}
	for _, text := range []string{"newest", "1.x", ">= ", "latest:^1.5", "1.0.0 || 2.0.0"} {
		if got, err := ParseConstraint(text); err == nil {
			t.Errorf("ParseConstraint(%q) = %v, want an error", text, got)
		}
	}
}

func TestHome(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	t.Setenv("LocalAppData", filepath.Join(dir, "data"))
	t.Setenv(HomeVariable, "")
	want := filepath.Join(dir, "data", "cairn", "engines")
	if runtime.GOOS == "darwin" {
		want = filepath.Join(dir, "Library", "Application Support", "cairn", "engines")
	}
	if got, err := Home(); err != nil || got != want {
		t.Errorf("Home: got %s, %v, want %s", got, err, want)
	}
	t.Setenv(HomeVariable, filepath.Join(dir, "mine"))
	if got, err := Home(); err != nil || got != filepath.Join(dir, "mine") {
		t.Errorf("Home: got %s, %v, want what %s says", got, err, HomeVariable)
	}
}

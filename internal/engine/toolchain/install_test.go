// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/release"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/release/releasetest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func constraint(t *testing.T, text string) Constraint {
	t.Helper()
	c, err := ParseConstraint(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bench is a mirror with releases, and a directory to install them in.
type bench struct {
	*releasetest.Server
	t    *testing.T
	home string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	t.Setenv("TMPDIR", t.TempDir())
	b := &bench{Server: releasetest.Start(t), t: t, home: filepath.Join(t.TempDir(), "engines")}
	for program, versions := range map[string][]string{
		Tofu:      {"1.9.0", "1.11.0", "1.12.6", "1.13.0-beta1"},
		Terraform: {"1.5.7", "1.10.0", "1.11.4", "1.15.0-rc1"},
	} {
		for _, v := range versions {
			b.Add(program, v, releasetest.Program(program, v))
		}
	}
	return b
}

func (b *bench) request(program, wanted string) InstallRequest {
	b.t.Helper()
	return InstallRequest{
		Program:     program,
		Constraints: []Constraint{constraint(b.t, wanted)},
		Home:        b.home,
		Source:      release.Source{Program: program, Mirror: b.URL + "/", Key: b.Key},
		Progress:    func(string) {},
	}
}

// nothingInstalled checks that nothing is left of an installation that failed, not even a
// directory.
func (b *bench) nothingInstalled() {
	b.t.Helper()
	for _, dir := range []string{b.home, os.TempDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Fatal(err)
		}
		if len(entries) > 0 {
			b.t.Errorf("left in %s: got %v, want nothing", dir, entries)
		}
	}
}

func TestInstallChoosesVersion(t *testing.T) {
	for _, test := range []struct{ program, wanted, want string }{
		{Tofu, "", "1.12.6"},
		{Tofu, "latest", "1.12.6"},
		{Tofu, "~> 1.11.0", "1.11.0"},
		{Tofu, ">= 1.9, < 1.12", "1.11.0"},
		{Tofu, "1.13.0-beta1", "1.13.0-beta1"},
		{Tofu, ">= 1.13.0-alpha1", "1.13.0-beta1"},
		{Terraform, "", "1.11.4"},
		{Terraform, "< 1.11", "1.10.0"},
		{Terraform, "v1.10.0", "1.10.0"},
	} {
		t.Run(test.program+" "+test.wanted, func(t *testing.T) {
			b := newBench(t)
			got, fresh, err := Install(t.Context(), b.request(test.program, test.wanted))
			if err != nil {
				t.Fatal(err)
			}
			want := &Candidate{
				Path:   filepath.Join(b.home, test.program, test.want, test.program),
				Origin: Installed,
				Info:   engine.Info{Name: test.program, Version: test.want},
			}
			if diff := cmp.Diff(want, got); diff != "" || !fresh {
				t.Errorf("Install: fresh %t, difference (-want +got):\n%s", fresh, diff)
			}
			if _, fresh, err := Install(t.Context(), b.request(test.program, test.wanted)); err != nil || fresh {
				t.Errorf("Install, again: got %t, %v, want that it is there already", fresh, err)
			}
		})
	}
}

// An exact version that is there needs no server.
func TestInstalledVersionNeedsNoServer(t *testing.T) {
	b := newBench(t)
	req := b.request(Tofu, "1.11.0")
	if _, _, err := Install(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	req.Source.Mirror = "http://127.0.0.1:1"
	if _, fresh, err := Install(t.Context(), req); err != nil || fresh {
		t.Errorf("Install: got %t, %v", fresh, err)
	}
}

func TestInstallFailures(t *testing.T) {
	for name, test := range map[string]struct {
		program, wanted string
		breaks          func(*bench, *InstallRequest)
		want            any    // an error to be found with errors.Is, or a pointer for errors.As
		text            string // in the message
	}{
		"altered tofu":      {Tofu, "1.12.6", damaged, release.ErrUnverified, "checksum"},
		"altered terraform": {Terraform, "1.11.4", damaged, release.ErrUnverified, "checksum"},
		"forged tofu":       {Tofu, "1.12.6", forged, release.ErrUnverified, "ignature"},
		"forged terraform":  {Terraform, "1.11.4", forged, release.ErrUnverified, "ignature"},
		"altered list of tofu": {Tofu, "1.12.6", func(b *bench, _ *InstallRequest) {
			list := releasetest.ListName(Tofu, "1.12.6")
			b.Set(list, append(b.File(list), "0  other\n"...))
		}, release.ErrUnverified, "ignature"},
		"another key than ours": {Tofu, "1.12.6", func(_ *bench, req *InstallRequest) { req.Source.Key = "" }, release.ErrUnverified, "ignature"},
		"the maker's key": {
			Terraform,
			"1.11.4",
			func(_ *bench, req *InstallRequest) { req.Source.Key = "" },
			release.ErrUnverified,
			"ignature",
		},
		"tofu without archive": {Tofu, "1.12.6", func(b *bench, _ *InstallRequest) {
			b.Set(releasetest.ArchiveName(Tofu, "1.12.6"), nil)
		}, nil, "404"},
		"terraform without archive": {Terraform, "1.11.4", func(b *bench, _ *InstallRequest) {
			b.Set(releasetest.ArchiveName(Terraform, "1.11.4"), nil)
		}, nil, "404"},
		"another version inside": {Tofu, "1.12.7", func(b *bench, _ *InstallRequest) {
			b.Add(Tofu, "1.12.7", releasetest.Program(Tofu, "1.12.6"))
		}, release.ErrUnverified, "says that it is tofu 1.12.6"},
		"another program inside": {Terraform, "1.12.0", func(b *bench, _ *InstallRequest) {
			b.Add(Terraform, "1.12.0", releasetest.Program(Tofu, "1.12.0"))
		}, release.ErrUnverified, "says that it is tofu 1.12.0"},
		"program that does not run": {Terraform, "1.12.0", func(b *bench, _ *InstallRequest) {
			b.Add(Terraform, "1.12.0", []byte("#!/bin/sh\nexit 3\n"))
		}, nil, "exit status 3"},
		"unknown tofu":            {Tofu, "1.12.99", intact, nil, "there is no release 1.12.99"},
		"unknown terraform":       {Terraform, "1.12.99", intact, nil, "404"},
		"no tofu that satisfies":  {Tofu, "> 2", intact, new(*NoVersionError), "the newest release is 1.12.6"},
		"no terraform":            {Terraform, "> 2", intact, new(*NoVersionError), "the newest release is 1.11.4"},
		"too old for cairn":       {Tofu, "1.9.0", intact, new(*TooOldError), "1.11.0 or newer"},
		"all too old for cairn":   {Terraform, "< 1.10", intact, new(*NoVersionError), "1.10.0 or newer"},
		"no server for tofu":      {Tofu, "", absent, new(*url.Error), "refused"},
		"no server for terraform": {Terraform, "", absent, new(*url.Error), "refused"},
		"file where the directory is to be": {Tofu, "", func(b *bench, req *InstallRequest) {
			req.Home = filepath.Join(b.t.TempDir(), "file")
			if err := os.WriteFile(req.Home, nil, 0o600); err != nil {
				b.t.Fatal(err)
			}
		}, new(*fs.PathError), "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			req := b.request(test.program, test.wanted)
			test.breaks(b, &req)
			_, _, err := Install(t.Context(), req)
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("Install: got %v, want %q", err, test.text)
			}
			if target, ok := test.want.(error); ok && !errors.Is(err, target) {
				t.Errorf("Install: got %v, want it to be %v", err, target)
			} else if !ok && test.want != nil && !errors.As(err, test.want) {
				t.Errorf("Install: got %T, want %T", err, test.want)
			}
			b.nothingInstalled()
		})
	}
}

func intact(*bench, *InstallRequest) {}

func damaged(b *bench, req *InstallRequest) {
	name := releasetest.ArchiveName(req.Program, req.Constraints[0].String())
	content := b.File(name)
	content[len(content)/2] ^= 1
	b.Set(name, content)
}

func forged(b *bench, req *InstallRequest) { b.Forge(req.Program, req.Constraints[0].String()) }

func absent(_ *bench, req *InstallRequest) { req.Source.Mirror = "http://127.0.0.1:1" }

// An interrupt while an archive comes in ends the installation at once, and leaves nothing.
func TestInstallInterrupted(t *testing.T) {
	stop := errors.New("interrupted")
	for program, v := range map[string]string{Tofu: "1.12.6", Terraform: "1.11.4"} {
		t.Run(program, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			b := newBench(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			b.Hang(releasetest.ArchiveName(program, v), func() { cancel(stop) })
			if _, _, err := Install(ctx, b.request(program, v)); !errors.Is(err, stop) {
				t.Errorf("Install: got %v, want the cause of the interrupt", err)
			}
			b.nothingInstalled()
			b.Close()
		})
	}
}

// A version that a list has in a form of its own does not keep the others from being found.
func TestInstallPassesOverStrangeVersions(t *testing.T) {
	b := newBench(t)
	b.Add(Tofu, "1.14.0-nightly.2026", releasetest.Program(Tofu, "1.14.0-nightly.2026"))
	b.Add(Tofu, "tip", releasetest.Program(Tofu, "tip"))
	got, _, err := Install(t.Context(), b.request(Tofu, ""))
	if err != nil || got.Info.Version != "1.12.6" {
		t.Errorf("Install: got %+v, %v, want 1.12.6", got, err)
	}
}

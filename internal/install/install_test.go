// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

var fake = stackaddrs.Provider{Hostname: "example.com", Namespace: "a", Type: "fake"}

// stack is a stack with a mirror of packages.
type stack struct {
	t           *testing.T
	dir, work   string
	mirror      string
	environ     []string
	installing  int
	requirement string
	unmanaged   func(stackaddrs.Provider) bool
	engine      string
	hashes      *install.Hashes
}

func newStack(t *testing.T) *stack {
	s := &stack{t: t, dir: t.TempDir(), work: t.TempDir(), mirror: t.TempDir(), requirement: ">= 1.0"}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s.publish(version, version)
	}
	s.configure(s.mirrored())
	return s
}

// mirrored is a CLI configuration by which packages come from the mirror.
func (s *stack) mirrored() string {
	return fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", s.mirror)
}

// publish puts a package of the provider into the mirror.
func (s *stack) publish(version, content string) {
	dir := filepath.Join(s.mirror, "example.com", "a", "fake", version, release.CurrentPlatform.String())
	s.write(filepath.Join(dir, "terraform-provider-fake_v"+version), content)
}

func (s *stack) write(name, content string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stack) configure(content string) {
	s.write(filepath.Join(s.dir, "cli.tfrc"), content)
	s.environ = []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(s.dir, "cli.tfrc")}
}

// installer returns an installer, of another program as it were.
func (s *stack) installer() *install.Installer {
	s.write(filepath.Join(s.dir, "m", "main.tf"), fmt.Sprintf(
		"terraform {\n  required_providers {\n    fake = {\n      source  = \"example.com/a/fake\"\n      version = %q\n    }\n  }\n}\n",
		s.requirement))
	return install.New(install.Options{
		StackDir: s.dir, WorkDir: s.work, Environ: s.environ, Modules: module.NewLoader(module.Options{Base: s.dir}),
		Engine: s.engine, Unmanaged: s.unmanaged, Working: func(string) { s.installing++ }, Hashes: s.hashes,
	})
}

// prepared is a preparer that has prepared something.
type prepared struct {
	*install.Installer
	locked   []engine.LockChange
	warnings hcl.Diagnostics
}

// prepare prepares, with another program as it were, without errors.
func (s *stack) prepare(req *engine.PrepareRequest) *prepared {
	s.t.Helper()
	p := s.installer()
	result, diags := p.Prepare(s.t.Context(), req)
	if diags.HasErrors() {
		s.t.Fatal(diags)
	}
	return &prepared{p, result.Locked, diags}
}

func (s *stack) request() *engine.PrepareRequest {
	return &engine.PrepareRequest{Modules: []string{filepath.Join(s.dir, "m")}}
}

// lock returns the text of the stack's lock file.
func (s *stack) lock() string {
	text, err := os.ReadFile(filepath.Join(s.dir, ".terraform.lock.hcl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}

func TestPrepare(t *testing.T) {
	s := newStack(t)
	p := s.installer()
	result, diags := p.Prepare(t.Context(), s.request())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff([]engine.LockChange{{Provider: fake, After: "1.1.0"}}, result.Locked); diff != "" {
		t.Errorf("locked (-want +got):\n%s", diff)
	}
	found, err := p.Program(t.Context(), fake)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(s.work, "init", ".terraform", "providers", "example.com", "a", "fake", "1.1.0", release.CurrentPlatform.String(),
		"terraform-provider-fake_v1.1.0")
	if found.Path != want || !strings.HasPrefix(found.Hash, "h1:") {
		t.Errorf("the package is %+v, want %s", found, want)
	}
	lock := s.lock()
	if !strings.Contains(lock, found.Hash) || !strings.Contains(lock, `constraints = ">= 1.0.0"`) {
		t.Errorf("the lock file is\n%s", lock)
	}
	s.installing = 0
	if result, diags := s.installer().Prepare(t.Context(), s.request()); diags.HasErrors() || len(result.Locked) > 0 || s.installing > 0 ||
		s.lock() != lock {
		t.Errorf("again: %v, %v; installed %d times; the lock file is\n%s", result, diags, s.installing, s.lock())
	}
	locked, err := s.installer().Locks(t.Context())
	if diff := cmp.Diff(map[stackaddrs.Provider]string{fake: "1.1.0"}, locked); diff != "" || err != nil {
		t.Errorf("Locks: %v (-want +got):\n%s", err, diff)
	}
}

func TestUpgrade(t *testing.T) {
	s := newStack(t)
	s.requirement = "1.0.0"
	if _, diags := s.installer().Prepare(t.Context(), s.request()); diags.HasErrors() {
		t.Fatal(diags)
	}
	s.requirement = "> 1.0"
	req := s.request()
	req.Ranges = map[stackaddrs.Provider]hcl.Range{fake: {Filename: "stack"}}
	_, diags := s.installer().Prepare(t.Context(), req)
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "version 1.0.0 is locked") || diags[0].Subject == nil ||
		diags[0].Subject.Filename != "stack" {
		t.Errorf("a version that does not fit: %v", diags)
	}
	req.Upgrade = true
	result, diags := s.installer().Prepare(t.Context(), req)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff([]engine.LockChange{{Provider: fake, Before: "1.0.0", After: "1.1.0"}}, result.Locked); diff != "" {
		t.Errorf("an upgrade (-want +got):\n%s", diff)
	}
}

// An error comes with its remedy, and has the code for which a program names the command.
func TestAdvice(t *testing.T) {
	for name, test := range map[string]struct {
		requirement, lock, config string
		want                      []string
		code                      fault.Code
	}{
		"locked version": {requirement: "> 1.0", lock: `version = "1.0.0"`, want: []string{
			"version 1.0.0 is locked", "Change the version",
			".terraform.lock.hcl",
		}, code: fault.LockedVersionRejected},
		"locked package": {
			requirement: "1.0.0", lock: "version = \"1.0.0\"\n  hashes = [\"h1:7miisWhr3Q2LpgpZKyhgmI9bCqJX4DOWXEaCJsUAJoE=\"]",
			want: []string{"none of the checksums", "add its checksum to .terraform.lock.hcl"}, code: fault.PackageNotLocked,
		},
		"no version": {requirement: "> 2.0", want: []string{"the newest is 1.1.0", "Change the version that is required in required_providers " +
			"of the module."}},
		"no provider": {
			requirement: "1.0.0", config: "provider_installation {\n  filesystem_mirror {\n    path = \"/nowhere\"\n  }\n}\n",
			want: []string{"Check the source", "CLI configuration"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			s.requirement = test.requirement
			if test.lock != "" {
				s.write(filepath.Join(s.dir, ".terraform.lock.hcl"), fmt.Sprintf("provider \"example.com/a/fake\" {\n  %s\n}\n", test.lock))
			}
			if test.config != "" {
				s.configure(test.config)
			}
			_, diags := s.installer().Prepare(t.Context(), s.request())
			if len(diags) != 1 {
				t.Fatalf("%v, want one error", diags)
			}
			for _, want := range test.want {
				if !strings.Contains(diags[0].Detail, want) {
					t.Errorf("the error is %q, want %q in it", diags[0].Detail, want)
				}
			}
			var code fault.Code
			if data, ok := diags[0].Extra.(*engine.DiagnosticData); ok {
				code = data.Fault
			}
			if code != test.code {
				t.Errorf("the code is %q, want %q", code, test.code)
			}
		})
	}
}

// An interrupted installation needs no advice.
func TestInterruptedInstallation(t *testing.T) {
	s := newStack(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	p := s.installer()
	cancel(errors.New("enough of it"))
	if _, diags := p.Prepare(ctx, s.request()); !diags.HasErrors() || strings.Contains(diags[0].Detail, "Check") {
		t.Errorf("%v, want an error without advice", diags)
	}
}

func TestReadOnlyLock(t *testing.T) {
	s := newStack(t)
	req := s.request()
	req.ReadOnlyLock = true
	if _, diags := s.installer().Prepare(t.Context(), req); !diags.HasErrors() || diags[0].Summary != "Outdated provider lock file" ||
		s.lock() != "" {
		t.Errorf("%v; the lock file is %q", diags, s.lock())
	}
	lock := "provider \"example.com/a/fake\" {\n  version     = \"1.0.0\"\n  constraints = \">= 1.0.0\"\n}\n"
	s.write(filepath.Join(s.dir, ".terraform.lock.hcl"), lock)
	p := s.installer()
	if _, diags := p.Prepare(t.Context(), req); diags.HasErrors() || s.lock() != lock {
		t.Errorf("%v; the lock file is\n%s", diags, s.lock())
	}
	if found, err := s.installer().Program(t.Context(), fake); err != nil || !strings.HasSuffix(found.Path, "v1.0.0") {
		t.Errorf("the package is %v, %v", found, err)
	}
}

func TestChangedPackageIsRefused(t *testing.T) {
	s := newStack(t)
	if _, diags := s.installer().Prepare(t.Context(), s.request()); diags.HasErrors() {
		t.Fatal(diags)
	}
	s.publish("1.1.0", "something else") // the package is a link to it
	found, err := s.installer().Program(t.Context(), fake)
	if !errors.As(err, new(*packagecache.MismatchError)) || !errors.As(err, new(*install.DamagedError)) {
		t.Errorf("Package = %v, %v", found, err)
	}
	req := s.request()
	req.Verify = true // which does not help if the mirror has no other
	if _, diags := s.installer().Prepare(t.Context(), req); !diags.HasErrors() || !strings.Contains(diags[0].Detail, "none of the checksums") {
		t.Errorf("Prepare: %v", diags)
	}
}

// Stacks of one program that have a mirror in common read a package once, but again if it has
// changed.
func TestPackageOfSeveralStacks(t *testing.T) {
	s := newStack(t)
	s.hashes = &install.Hashes{}
	s.prepare(s.request())
	lock := s.lock()
	for content, want := range map[string]bool{"1.1.0": true, "something else": false} {
		s.publish("1.1.0", content)
		s.work = t.TempDir() // of a stack with the same lock file
		s.write(filepath.Join(s.dir, ".terraform.lock.hcl"), lock)
		_, diags := s.installer().Prepare(t.Context(), s.request())
		if got := !diags.HasErrors(); got != want {
			t.Errorf("with %q as the package: %t, %v", content, got, diags)
		}
	}
}

// A damaged package is installed again by a caller that looks for damage, in its place alone.
func TestDamagedPackage(t *testing.T) {
	for name, damage := range map[string]func(program string) error{
		"changed": func(program string) error { return os.WriteFile(program, []byte("1.1.1"), 0o600) },
		"missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			p := s.prepare(s.request())
			lock := s.lock()
			good, err := p.Program(t.Context(), fake)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(good.Path) // a link into the mirror
			if err := errors.Join(os.Remove(dir),
				os.CopyFS(dir, os.DirFS(filepath.Join(s.mirror, "example.com", "a", "fake", "1.1.0", filepath.Base(dir)))),
				damage(good.Path)); err != nil {
				t.Fatal(err)
			}
			s.installing = 0
			p = s.prepare(s.request())
			if found, err := p.Program(t.Context(), fake); s.installing > 0 || err == nil {
				t.Errorf("without looking for damages, it was installed %d times; Package = %v", s.installing, found)
			}
			req := s.request()
			req.Verify = true
			p = s.prepare(req)
			if found, err := p.Program(t.Context(), fake); s.installing != 1 || err != nil || found.Hash != good.Hash || len(p.locked) > 0 ||
				s.lock() != lock {
				t.Errorf("looking for damages has installed %d times and locked %v; Package = %v, %v", s.installing, p.locked, found, err)
			}
			if s.prepare(req); s.installing != 1 {
				t.Error("it is installed again without damage")
			}
		})
	}
}

func TestGivenPackages(t *testing.T) {
	s := newStack(t)
	dir := filepath.Join(s.mirror, "example.com", "a", "fake", "1.0.0", release.CurrentPlatform.String())
	req := s.request()
	req.InstallNothing = true
	req.Packages = []engine.ProviderPackage{{Provider: fake, Version: "1.0.0", Dir: dir}}
	p := s.installer()
	if _, diags := p.Prepare(t.Context(), req); diags.HasErrors() || s.lock() != "" || s.installing > 0 {
		t.Errorf("%v; the lock file is %q; installed %d times", diags, s.lock(), s.installing)
	}
	if found, err := p.Program(t.Context(), fake); err != nil || found.Path != filepath.Join(dir, "terraform-provider-fake_v1.0.0") {
		t.Errorf("Package = %v, %v", found, err)
	}
	if versions, err := p.Locks(t.Context()); err != nil || len(versions) != 1 || versions[fake] != "1.0.0" {
		t.Errorf("Locks = %v, %v, want the versions of the packages", versions, err)
	}
	if packages, err := p.Packages(); err != nil || len(packages) != 1 || packages[0].Dir != dir || packages[0].InDevelopment {
		t.Errorf("Packages = %v, %v", packages, err)
	}
	if text, err := p.LockFile(); err != nil || !strings.Contains(string(text), `"example.com/a/fake"`) {
		t.Errorf("LockFile = %s, %v", text, err)
	}
	other := fake
	other.Type = "other"
	if found, err := p.Program(t.Context(), other); !errors.As(err, new(*install.NotInstalledError)) {
		t.Errorf("Package of another = %v, %v", found, err)
	}
	req.Packages[0].Hashes = []string{"h1:other"}
	p = s.installer()
	if _, diags := p.Prepare(t.Context(), req); diags.HasErrors() {
		t.Fatal(diags)
	}
	if found, err := p.Program(t.Context(), fake); err == nil {
		t.Errorf("with another hash, Package = %v", found)
	}
}

func TestOverrides(t *testing.T) {
	s := newStack(t)
	program := filepath.Join(s.dir, "build", "terraform-provider-fake")
	s.write(program, "")
	s.configure("provider_installation {\n  dev_overrides {\n    \"example.com/a/fake\" = \"build\"\n  }\n  direct {}\n}\n")
	p := s.prepare(s.request())
	if err := os.Rename(program, filepath.Join(s.dir, "old")); err != nil {
		t.Fatal(err)
	}
	if found, err := p.Program(t.Context(), fake); err == nil || !strings.Contains(err.Error(), "in development in "+filepath.Dir(program)) ||
		strings.Contains(err.Error(), "0.0.0") {
		t.Errorf("without a program, Package = %v, %v", found, err)
	}
	if err := os.Rename(filepath.Join(s.dir, "old"), program); err != nil {
		t.Fatal(err)
	}
	if len(p.warnings) != 1 || !strings.Contains(p.warnings[0].Detail, "example.com/a/fake is the one in "+filepath.Dir(program)) ||
		s.lock() != "" {
		t.Errorf("%v; the lock file is %q", p.warnings, s.lock())
	}
	if found, err := p.Program(t.Context(), fake); err != nil || found.Path != program || found.Hash != "" {
		t.Errorf("Package = %v, %v", found, err)
	}
	if packages, err := p.Packages(); err != nil || len(packages) != 1 || !packages[0].InDevelopment ||
		packages[0].Dir != filepath.Dir(program) || p.Address(packages[0]) != fake {
		t.Errorf("Packages = %v, %v", packages, err)
	}
	if versions, err := p.Locks(t.Context()); err != nil || !cmp.Equal(versions, map[stackaddrs.Provider]string{fake: ""}) {
		t.Errorf("Locks = %v, %v", versions, err)
	}
	// They are warned of where they are used.
	if p := s.prepare(&engine.PrepareRequest{}); len(p.warnings) > 0 {
		t.Errorf("a stack without providers: %v", p.warnings)
	}
}

// A provider that is supplied otherwise is neither installed nor locked, and its present locks
// stay, as long as it is required.
func TestSuppliedProviders(t *testing.T) {
	for name, supply := range map[string]func(s *stack){
		"dev_overrides": func(s *stack) {
			s.configure(fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"example.com/a/fake\" = \"build\"\n  }\n  filesystem_mirror "+
				"{\n    path = %q\n  }\n}\n", s.mirror))
		},
		"another's process": func(s *stack) { s.unmanaged = func(p stackaddrs.Provider) bool { return p == fake } },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t)
			s.prepare(s.request())
			lock := s.lock()
			if err := os.RemoveAll(s.work); err != nil {
				t.Fatal(err)
			}
			s.requirement = ">= 7" // which the lock does not satisfy, nor a release
			supply(s)
			for _, req := range []*engine.PrepareRequest{
				s.request(),
				{Modules: s.request().Modules, Upgrade: true},
				{Modules: s.request().Modules, ReadOnlyLock: true},
			} {
				p := s.prepare(req)
				if len(p.locked) > 0 || s.lock() != lock {
					t.Errorf("changes of locks are %v, the lock file is\n%s", p.locked, s.lock())
				}
				if versions, err := p.Locks(t.Context()); err != nil || versions[fake] != "" || len(versions) != 1 {
					t.Errorf("Locks = %v, %v", versions, err)
				}
			}
			s.installing = 0
			if s.prepare(s.request()); s.installing > 0 {
				t.Error("what was done before is done again")
			}
			if p := s.prepare(&engine.PrepareRequest{}); s.lock() == lock || len(p.locked) != 1 {
				t.Errorf("where it is not required, the changes are %v", p.locked)
			}
			s.requirement, s.unmanaged = ">= 1.0", nil
			s.configure(s.mirrored())
			if s.prepare(s.request()); s.lock() != lock {
				t.Errorf("without that, the lock file is\n%s", s.lock())
			}
		})
	}
}

func TestNothingRequired(t *testing.T) {
	s := newStack(t)
	p := s.installer()
	if _, diags := p.Prepare(t.Context(), &engine.PrepareRequest{}); diags.HasErrors() || s.installing > 0 {
		t.Errorf("%v, installed %d times", diags, s.installing)
	}
	if left, err := os.ReadDir(s.work); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if found, err := p.Program(t.Context(), fake); !errors.As(err, new(*install.NotInstalledError)) {
		t.Errorf("Package = %v, %v", found, err)
	}
}

func TestUnsupported(t *testing.T) {
	s := newStack(t)
	s.write(filepath.Join(s.dir, "m", "main.tf"), "")
	p := install.New(install.Options{
		StackDir: s.dir, WorkDir: s.work, Modules: module.NewLoader(module.Options{Base: s.dir}),
		Unsupported: func(dir string) hcl.Diagnostics {
			return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: filepath.Base(dir)}}
		},
	})
	if diags := p.Unsupported(t.Context(), []string{filepath.Join(s.dir, "m")}); len(diags) != 1 || diags[0].Summary != "m" {
		t.Errorf("Unsupported = %v", diags)
	}
}

// Tofu has providers without a host from its own registry, and locks them there. Stacks know them
// by the same addresses as with other engines.
func TestTofu(t *testing.T) {
	s := newStack(t)
	s.engine = toolchain.Tofu
	usual := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "a", Type: "fake"}
	dir := filepath.Join(s.mirror, toolchain.TofuRegistry, "a", "fake", "1.0.0", release.CurrentPlatform.String())
	s.write(filepath.Join(dir, "terraform-provider-fake_v1.0.0"), "")
	req := &engine.PrepareRequest{
		Requirements: map[stackaddrs.Provider][]string{usual: {"~> 1.0"}},
		Ranges:       map[stackaddrs.Provider]hcl.Range{usual: {Filename: "stack"}},
	}
	p := s.prepare(req)
	if len(p.locked) != 1 || p.locked[0].Provider != usual || !strings.Contains(s.lock(), `provider "registry.opentofu.org/a/fake"`) {
		t.Errorf("locked: %v, and the file is\n%s", p.locked, s.lock())
	}
	if versions, err := p.Locks(t.Context()); err != nil || versions[usual] != "1.0.0" {
		t.Errorf("Locks = %v, %v", versions, err)
	}
	packages, err := p.Packages()
	if err != nil || len(packages) != 1 || packages[0].Source() != "registry.opentofu.org/a/fake" || p.Address(packages[0]) != usual {
		t.Fatalf("Packages = %v, %v", packages, err)
	}
	if found, err := p.Program(t.Context(), usual); err != nil || filepath.Dir(found.Path) != packages[0].Dir {
		t.Errorf("Program = %v, %v", found, err)
	}
	req.Requirements[usual] = []string{"> 2.0"}
	if _, diags := s.installer().Prepare(t.Context(), req); !diags.HasErrors() || diags[0].Subject == nil ||
		!strings.Contains(diags[0].Detail, "registry.opentofu.org/a/fake") {
		t.Errorf("a version that does not fit: %v", diags)
	}
	other := usual
	other.Type = "none"
	if found, err := s.installer().Program(t.Context(), other); err == nil || !strings.Contains(err.Error(), "registry.terraform.io/a/none "+
		"is not installed") {
		t.Errorf("Program of another = %v, %v", found, err)
	}
}

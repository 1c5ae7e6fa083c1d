// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Bench runs cases with one engine, one after the other.
type Bench struct {
	stackDir string
	open     func(environ []string) (engine.Engine, error)
	packages []engine.ProviderPackage
	configs  map[stackaddrs.Provider]cty.Value // of providers, with nothing in them
	runs     int

	withoutCalls bool // of the provider, in results
	anyVersion   bool // whatever modules say of the version of terraform
}

// NewNative returns a bench with the native engine.
func NewNative(t testing.TB) *Bench {
	t.Helper()
	b := newBench(t)
	shared, workDir := &native.Shared{}, t.TempDir()
	b.open = func(environ []string) (engine.Engine, error) {
		return native.New(native.Options{WorkDir: workDir, Dir: b.stackDir, Environ: environ, Shared: shared})
	}
	return b
}

// NewTerraform returns a bench with terraform.
func NewTerraform(t testing.TB) *Bench {
	t.Helper()
	return newBinary(t, testenv.Terraform(t))
}

// newBinary returns a bench with a program, terraform or tofu.
func newBinary(t testing.TB, program string) *Bench {
	t.Helper()
	b := newBench(t)
	shared, workDir := &binary.Shared{}, t.TempDir()
	b.open = func(environ []string) (engine.Engine, error) {
		return binary.New(t.Context(), binary.Options{Binary: program, WorkDir: workDir, Dir: b.stackDir, Environ: environ, Shared: shared})
	}
	return b
}

func newBench(t testing.TB) *Bench {
	t.Helper()
	mirror := testenv.FakeProviderMirror(t)
	dir := filepath.Join(mirror, filepath.FromSlash(nativetest.Address.String()), "1.0.0", runtime.GOOS+"_"+runtime.GOARCH)
	return &Bench{
		stackDir: t.TempDir(), configs: map[stackaddrs.Provider]cty.Value{},
		packages: []engine.ProviderPackage{{Provider: nativetest.Address, Version: "1.0.0", Dir: dir}},
	}
}

// session is an open session with its module and the configurations of its providers.
type session struct {
	engine.Session
	ctx       context.Context //nolint:containedctx // of one step
	module    *engine.Module
	providers map[engine.ProviderSlot]engine.ProviderConfig
}

// openSession opens a session for the module in a directory. The caller closes it.
func (b *Bench) openSession(ctx context.Context, dir string, environ []string) (*session, hcl.Diagnostics, error) {
	e, err := b.open(environ)
	if err != nil {
		return nil, nil, err
	}
	opened, err := e.Open(ctx, engine.SessionOptions{StackDir: b.stackDir})
	if err != nil {
		return nil, nil, err
	}
	s := &session{Session: opened, ctx: ctx, providers: map[engine.ProviderSlot]engine.ProviderConfig{}}
	if _, diags := opened.Abilities().Preparer.Prepare(ctx, &engine.PrepareRequest{
		InstallNothing: true,
		Packages:       b.packages,
	}); diags.HasErrors() {
		return nil, nil, fmt.Errorf("preparing: %w", diags)
	}
	var diags hcl.Diagnostics
	if s.module, diags = opened.Module(ctx, dir); s.module == nil || diags.HasErrors() {
		return s, diags, nil
	}
	for slot, needed := range s.module.Slots {
		if !slices.ContainsFunc(b.packages, func(p engine.ProviderPackage) bool { return p.Provider == needed.Provider }) {
			continue
		}
		config, ok := b.configs[needed.Provider]
		if !ok {
			schema, diags := opened.ProviderSchema(ctx, needed.Provider)
			if diags.HasErrors() {
				return nil, nil, fmt.Errorf("schema of the provider: %w", diags)
			}
			config = nothingSet(schema.Config)
			b.configs[needed.Provider] = config
		}
		s.providers[slot] = engine.ProviderConfig{Provider: needed.Provider, Config: config}
	}
	return s, nil, nil
}

// forgetRegion makes an argument of the provider's configurations unknown.
func (s *session) forgetRegion() {
	for slot, given := range s.providers {
		if given.Provider == nativetest.Address {
			arguments := given.Config.AsValueMap()
			arguments["region"] = cty.UnknownVal(cty.String)
			given.Config = cty.ObjectVal(arguments)
			s.providers[slot] = given
		}
	}
}

// nothingSet returns the configuration of a provider without arguments and blocks.
func nothingSet(block engine.Block) cty.Value {
	spec := block.Spec()
	values := map[string]cty.Value{}
	for name, ty := range hcldec.ImpliedType(spec).AttributeTypes() {
		values[name] = cty.NullVal(ty)
		switch spec[name].(type) {
		case *hcldec.BlockListSpec:
			values[name] = cty.ListValEmpty(ty.ElementType())
		case *hcldec.BlockSetSpec:
			values[name] = cty.SetValEmpty(ty.ElementType())
		}
	}
	return cty.ObjectVal(values)
}

// world is the surroundings of providers in one run of a case.
type world struct {
	dir               string
	store, ids, calls string // in it
	deferring         bool   // providers may defer changes
}

func newWorld(dir string) (*world, error) {
	w := &world{dir: dir, store: filepath.Join(dir, "store"), ids: filepath.Join(dir, "ids"), calls: filepath.Join(dir, "calls")}
	for _, path := range []string{w.store, w.ids} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) environ() []string {
	environ := append(os.Environ(),
		testprovider.StoreVariable+"="+w.store, testprovider.IDsVariable+"="+w.ids, testprovider.CallsVariable+"="+w.calls,
		testprovider.ValuesVariable+"=1",
	)
	if w.deferring {
		environ = append(environ, testprovider.DeferralVariable+"=1")
	}
	return environ
}

// takeCalls returns the calls since it was called last.
func (w *world) takeCalls() ([]testprovider.Call, error) {
	calls, err := testprovider.ReadCalls(w.calls)
	if err != nil {
		return nil, err
	}
	return calls, os.RemoveAll(w.calls)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"context"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// EngineOptions are the parameters of [NewEngine].
type EngineOptions struct {
	WorkDir string   // for files of the engine
	Environ []string // nil stands for that of this program
}

// NewEngine returns the engine that the variable [testenv.EngineVariable] names, which runs real
// modules and providers.
func NewEngine(t testing.TB, opts EngineOptions) engine.Engine {
	t.Helper()
	setting := testenv.EngineSetting(t)
	switch setting {
	case testenv.NativeEngine:
		return newNative(t, opts)
	case testenv.AutoEngine:
		return auto.New(auto.Options{
			Native: newNative(t, opts),
			Binary: func(context.Context) (engine.Engine, error) { return newBinary(t, testenv.Engine(t), opts), nil },
		})
	default:
		return newBinary(t, setting, opts)
	}
}

func newNative(t testing.TB, opts EngineOptions) engine.Engine {
	t.Helper()
	e, err := native.New(native.Options{WorkDir: opts.WorkDir, Environ: opts.Environ})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newBinary(t testing.TB, path string, opts EngineOptions) engine.Engine {
	t.Helper()
	e, err := binary.New(t.Context(), binary.Options{Binary: path, WorkDir: opts.WorkDir, Environ: opts.Environ})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

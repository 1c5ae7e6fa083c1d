// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// Real writes a stack which runs on the engine of [NewEngine], with the fake provider
// (cairnstacks/fake, see package testprovider) for modules that want it. Extra are settings of the
// environment, as in "NAME=value".
//
// The test may be parallel.
func Real(t *testing.T, archive string, extra ...string) *Stack {
	t.Helper()
	s := newFakeStack(t, archive)
	s.Engine = NewEngine(t, s.engineOptions(extra))
	return s
}

// Native is [Real] with the native engine, for abilities that no binary has.
func Native(t *testing.T, archive string, extra ...string) *Stack {
	t.Helper()
	s := newFakeStack(t, archive)
	s.UseNative(extra...)
	return s
}

// UseNative makes the native engine that of the stack, with settings of the environment.
func (s *Stack) UseNative(extra ...string) {
	s.t.Helper()
	s.Engine = newNative(s.t, s.engineOptions(extra))
}

func newFakeStack(t *testing.T, archive string) *Stack {
	t.Helper()
	s := newStack(t, archive)
	s.Store = testprovider.Store{Dir: t.TempDir()}
	s.Calls = filepath.Join(t.TempDir(), "calls")
	return s
}

func (s *Stack) engineOptions(extra []string) EngineOptions {
	s.t.Helper()
	environ := append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(s.t, testenv.FakeProviderMirror(s.t)),
		"CHECKPOINT_DISABLE=1",
		"CAIRN_FAKE_STORE="+s.Store.Dir,
		"CAIRN_FAKE_CALLS="+s.Calls)
	return EngineOptions{WorkDir: s.workDir(), Environ: append(environ, extra...)}
}

func (s *Stack) workDir() string { return filepath.Join(s.Dir, ".cairn") }

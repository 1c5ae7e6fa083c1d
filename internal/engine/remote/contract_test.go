// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/engine/remote/remotetest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

// openNative returns the native engine for a stack, with the work directory in it.
func openNative(stackDir string) (engine.Engine, error) {
	return native.New(native.Options{WorkDir: filepath.Join(stackDir, ".cairn")})
}

// everything is in a pool.
func everything(stackaddrs.AbsComponentInstance, map[engine.ProviderSlot]engine.ProviderConfig) (string, hcl.Diagnostics) {
	return "pool", nil
}

func TestContract(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	var workers *remotetest.Workers
	var of *testing.T
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		if of != t { // the workers outlive the sessions of one test
			of, workers = t, remotetest.New(t, remote.ServerOptions{Open: openNative})
		}
		local, err := openNative(stackDir)
		if err != nil {
			t.Fatal(err)
		}
		return remote.New(remote.Options{Local: local, Pool: everything, Transport: workers.Program(stackDir)})
	})
}

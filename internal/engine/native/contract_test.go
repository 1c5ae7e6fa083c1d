// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

func TestContract(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		e, err := native.New(native.Options{WorkDir: filepath.Join(stackDir, ".cairn")})
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

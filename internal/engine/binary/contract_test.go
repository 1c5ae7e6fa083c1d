// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

func TestContract(t *testing.T) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, "")
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		eng, err := New(t.Context(), Options{Binary: binary, WorkDir: filepath.Join(stackDir, ".cairn")})
		if err != nil {
			t.Fatal(err)
		}
		return eng
	})
}

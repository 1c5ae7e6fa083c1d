// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/wire/wiretest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

func TestContract(t *testing.T) { testContract(t, func(e engine.Engine) engine.Engine { return e }) }

// Requests and results are plain data.
func TestContractThroughBytes(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	testContract(t, wiretest.New)
}

func testContract(t *testing.T, wrap func(engine.Engine) engine.Engine) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		eng, err := New(t.Context(), Options{Binary: binary, WorkDir: filepath.Join(stackDir, ".cairn")})
		if err != nil {
			t.Fatal(err)
		}
		return wrap(eng)
	})
}

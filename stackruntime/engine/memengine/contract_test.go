// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

func TestEngineContract(t *testing.T) {
	enginetest.Run(t, func(*testing.T, string) engine.Engine { return memengine.New(memengine.Options{}) })
}

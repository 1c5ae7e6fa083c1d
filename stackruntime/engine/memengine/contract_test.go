// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/engine/wire"
)

func TestEngineContract(t *testing.T) {
	enginetest.Run(t, func(*testing.T, string) engine.Engine { return memengine.New(memengine.Options{}) })
}

// Requests and results are plain data.
func TestEngineContractThroughBytes(t *testing.T) {
	enginetest.Run(t, func(*testing.T, string) engine.Engine { return wire.New(memengine.New(memengine.Options{})) })
}

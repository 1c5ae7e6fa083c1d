// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// contractEngine has the function of the provider that the tests call.
func contractEngine() engine.Engine {
	return memengine.New(memengine.Options{Functions: map[stackaddrs.Provider]map[string]*memengine.Function{enginetest.Provider: {"echo": {
		Function: engine.Function{
			Parameters: []engine.FunctionParameter{{Name: "value", Type: cty.DynamicPseudoType}}, Return: cty.DynamicPseudoType,
		},
		Call: func(_ context.Context, args []cty.Value) (cty.Value, error) { return args[0], nil },
	}}}})
}

func TestEngineContract(t *testing.T) {
	enginetest.Run(t, func(*testing.T, string) engine.Engine { return contractEngine() })
}

// Requests and results are plain data.
func TestEngineContractThroughBytes(t *testing.T) {
	enginetest.Run(t, func(*testing.T, string) engine.Engine { return wire.New(contractEngine()) })
}

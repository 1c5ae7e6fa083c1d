// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/wire/wiretest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// contractModules are modules of the contract, by their files.
var contractModules = map[string]*memengine.Module{
	"": {},
	enginetest.SimpleModule: {
		Variables: map[string]*engine.Variable{"v": {Name: "v", Type: cty.String, Nullable: true}},
		Resources: []memengine.Resource{
			{Name: "b", Input: func(s memengine.Scope) (cty.Value, error) { return around("<", s.Inputs["v"], ">"), nil }},
			{
				Name: "a", DependsOn: []string{"b"},
				Input: func(s memengine.Scope) (cty.Value, error) { return s.Resources["b"].GetAttr("output"), nil },
			},
		},
		Outputs: memengine.Outputs("text", "id", "given", "nothing"),
		Values: func(s memengine.Scope) (map[string]cty.Value, error) {
			return map[string]cty.Value{
				"text": s.Resources["a"].GetAttr("output"), "id": s.Resources["a"].GetAttr("id"),
				"given": s.Inputs["v"], "nothing": cty.NullVal(cty.DynamicPseudoType),
			}, nil
		},
	},
	enginetest.TriggeredModule: {
		Variables: map[string]*engine.Variable{"trigger": {Name: "trigger", Type: cty.String, Nullable: true}},
		Resources: []memengine.Resource{{
			Name: "a", TriggersReplace: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["trigger"], nil },
		}},
		Outputs: memengine.Outputs("id"),
		Values: func(s memengine.Scope) (map[string]cty.Value, error) {
			return map[string]cty.Value{"id": s.Resources["a"].GetAttr("id")}, nil
		},
	},
	enginetest.TypedModule: {
		Variables: map[string]*engine.Variable{
			"text": {Name: "text", Type: cty.String, Nullable: true},
			"list": {Name: "list", Type: cty.List(cty.String), Nullable: true},
			"settings": {Name: "settings", Nullable: true, Type: cty.ObjectWithOptionalAttrs(
				map[string]cty.Type{"name": cty.String, "size": cty.Number}, []string{"size"},
			)},
		},
		Resources: []memengine.Resource{{
			Name: "a", Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["list"], nil },
		}},
		Outputs: memengine.Outputs("text", "prefixed", "list", "name", "settings", "constant"),
		Values: func(s memengine.Scope) (map[string]cty.Value, error) {
			return map[string]cty.Value{
				"text": s.Inputs["text"], "prefixed": around("p-", s.Inputs["text"], ""), "list": s.Inputs["list"],
				"name": s.Inputs["settings"].GetAttr("name"), "settings": s.Inputs["settings"], "constant": cty.StringVal("c"),
			}, nil
		},
	},
}

// around returns a string between two others.
func around(before string, v cty.Value, after string) cty.Value {
	if !v.IsKnown() {
		return cty.UnknownVal(cty.String).RefineNotNull()
	}
	return cty.StringVal(before + v.AsString() + after)
}

// contractEngine has the modules of a stack, which must be among those of the contract, and the
// function of the provider that the tests call. Tests with other modules are for engines that read
// files.
func contractEngine(t *testing.T, stackDir string) engine.Engine {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(stackDir, "*", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]*memengine.Module{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		module := contractModules[string(source)]
		if module == nil {
			t.Skip("the module is in files only")
		}
		modules[filepath.Dir(file)] = module
	}
	functions := map[string]*memengine.Function{"echo": {
		Function: engine.Function{
			Parameters: []engine.FunctionParameter{{Name: "value", Type: cty.DynamicPseudoType}}, Return: cty.DynamicPseudoType,
		},
		Call: func(_ context.Context, args []cty.Value) (cty.Value, error) { return args[0], nil },
	}}
	return memengine.New(memengine.Options{
		Modules: modules, Functions: map[stackaddrs.Provider]map[string]*memengine.Function{enginetest.Provider: functions},
	})
}

func TestEngineContract(t *testing.T) { enginetest.Run(t, contractEngine) }

// Requests and results are plain data.
func TestEngineContractThroughBytes(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		t.Helper()
		return wiretest.New(contractEngine(t, stackDir))
	})
}

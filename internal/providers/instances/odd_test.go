// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// behaviourVariable makes the program of the tests a provider with this behaviour.
const behaviourVariable = "CAIRN_TEST_PROVIDER"

func serveOdd(behaviour string) {
	switch behaviour {
	case "panic at start":
		panic("no wish to start")
	case "silent at start":
		<-time.After(time.Hour) // a timer, since a program that can never wake up crashes
	case "no plugin":
		fmt.Println("good morning")
	default:
		if err := tf5server.Serve("test", func() tfprotov5.ProviderServer { return &oddProvider{behaviour: behaviour} }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // this is the main function of a provider
		}
	}
}

// oddProvider is a provider of protocol 5 whose functions break the rules for providers.
type oddProvider struct {
	tfprotov5.ProviderServer // nil: nothing else may be asked

	behaviour string
	asked     bool // for the schema
}

func (p *oddProvider) GetMetadata(context.Context, *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	optional := p.behaviour != "schema first"
	return &tfprotov5.GetMetadataResponse{ServerCapabilities: &tfprotov5.ServerCapabilities{GetProviderSchemaOptional: optional}}, nil
}

func (p *oddProvider) GetProviderSchema(
	context.Context, *tfprotov5.GetProviderSchemaRequest,
) (*tfprotov5.GetProviderSchemaResponse, error) {
	p.asked = true
	return p.schema(), nil
}

func (p *oddProvider) GetFunctions(context.Context, *tfprotov5.GetFunctionsRequest) (*tfprotov5.GetFunctionsResponse, error) {
	response := &tfprotov5.GetFunctionsResponse{Functions: p.functions()}
	if p.behaviour == "failing list" {
		response.Diagnostics = []*tfprotov5.Diagnostic{
			{Severity: tfprotov5.DiagnosticSeverityWarning, Summary: "Rain"},
			{Severity: tfprotov5.DiagnosticSeverityError, Summary: "Storm", Detail: "Come back tomorrow."},
		}
	}
	return response, nil
}

func (p *oddProvider) functions() map[string]*tfprotov5.Function {
	takes := &tfprotov5.FunctionParameter{Name: "text", Type: tftypes.String}
	functions := map[string]*tfprotov5.Function{}
	for _, name := range []string{"panic", "hang", "exit", "fail", "wrong", "nothing", "error", "pid"} {
		functions[name] = &tfprotov5.Function{
			VariadicParameter: takes,
			Return:            &tfprotov5.FunctionReturn{Type: tftypes.Number},
		}
	}
	functions["pid"].DeprecationMessage = "Ask the system."
	return functions
}

func (p *oddProvider) CallFunction(ctx context.Context, req *tfprotov5.CallFunctionRequest) (*tfprotov5.CallFunctionResponse, error) {
	if p.behaviour == "schema first" && !p.asked {
		return nil, errors.New("nobody has asked for the schema")
	}
	switch req.Name {
	case "panic":
		panic("at the disco")
	case "hang":
		select {
		case <-time.After(time.Hour):
		case <-make(chan struct{}):
		}
	case "exit":
		os.Exit(0) //nolint:forbidigo // the provider ends in the middle of a call
	case "fail":
		second := int64(1)
		return &tfprotov5.CallFunctionResponse{Error: &tfprotov5.FunctionError{Text: "not this", FunctionArgument: &second}}, nil
	case "error":
		return nil, errors.New("out of order")
	case "nothing":
		return &tfprotov5.CallFunctionResponse{}, nil
	case "wrong":
		return numberResult(tftypes.NewValue(tftypes.String, "text"), tftypes.String)
	}
	return numberResult(tftypes.NewValue(tftypes.Number, os.Getpid()), tftypes.Number)
}

func numberResult(value tftypes.Value, ty tftypes.Type) (*tfprotov5.CallFunctionResponse, error) {
	encoded, err := tfprotov5.NewDynamicValue(ty, value)
	return &tfprotov5.CallFunctionResponse{Result: &encoded}, err
}

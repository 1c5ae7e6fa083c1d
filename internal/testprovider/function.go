// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const functionName = "echo"

func echoFunction() *tfprotov6.Function {
	return &tfprotov6.Function{
		Summary: "Returns its argument.",
		Parameters: []*tfprotov6.FunctionParameter{{
			Name:               "value",
			Type:               tftypes.DynamicPseudoType,
			AllowNullValue:     true,
			AllowUnknownValues: true,
		}},
		Return: &tfprotov6.FunctionReturn{Type: tftypes.DynamicPseudoType},
	}
}

func (s *server) GetFunctions(context.Context, *tfprotov6.GetFunctionsRequest) (*tfprotov6.GetFunctionsResponse, error) {
	record(Call{RPC: "GetFunctions"})
	return &tfprotov6.GetFunctionsResponse{
		Functions: map[string]*tfprotov6.Function{functionName: echoFunction()},
	}, nil
}

func (s *server) CallFunction(_ context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	record(Call{RPC: "CallFunction", Type: req.Name})
	if req.Name != functionName || len(req.Arguments) != 1 {
		return &tfprotov6.CallFunctionResponse{
			Error: &tfprotov6.FunctionError{Text: fmt.Sprintf("no function %s of %d arguments", req.Name, len(req.Arguments))},
		}, nil
	}
	return &tfprotov6.CallFunctionResponse{Result: req.Arguments[0]}, nil
}

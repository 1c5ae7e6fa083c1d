// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/ordinary"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// terraformStateHandle is the name in errors of handles of [*terraformState].
const terraformStateHandle = "ordinary state"

// terraformState is a state of a root module that a client has opened.
type terraformState struct{ document *tfstate.Document }

// OpenTerraformState implements [stackspb.StacksServer]. There is always a handle: where there are
// diagnostics, of an empty state.
func (s *Service) OpenTerraformState(
	ctx context.Context, req *stackspb.OpenTerraformState_Request,
) (*stackspb.OpenTerraformState_Response, error) {
	response := &stackspb.OpenTerraformState_Response{}
	opened := &terraformState{}
	switch from := req.GetState().(type) {
	case *stackspb.OpenTerraformState_Request_Raw:
		document, err := tfstate.Parse(from.Raw)
		switch {
		case err != nil:
			return nil, status.Errorf(codes.InvalidArgument, "the state cannot be read: %s", err)
		case document.IsEmpty():
			return nil, status.Error(codes.InvalidArgument, "there is no state in it: it is empty")
		}
		opened.document = document
	case *stackspb.OpenTerraformState_Request_ConfigPath:
		dir := ordinary.Directory{Path: from.ConfigPath, Environ: s.opts.Environ, Pull: s.pullState}
		document, diags := dir.Read(ctx)
		opened.document, response.Diagnostics = document, wire.Diagnostics(diags, nil)
	default:
		return nil, status.Error(codes.InvalidArgument, "neither a directory nor a state is given: set config_path or raw")
	}
	response.StateHandle = handle.Open(s.handles, opened)
	return response, nil
}

// CloseTerraformState implements [stackspb.StacksServer].
func (s *Service) CloseTerraformState(
	_ context.Context, req *stackspb.CloseTerraformState_Request,
) (*stackspb.CloseTerraformState_Response, error) {
	if _, err := handle.Close[*terraformState](s.handles, req.GetStateHandle(), terraformStateHandle); err != nil {
		return nil, err
	}
	return &stackspb.CloseTerraformState_Response{}, nil
}

// pullState has the engine print the state of a directory, in the workspace that is selected there.
func (s *Service) pullState(ctx context.Context, backend, dir string) ([]byte, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	program, err := s.findEngine(ctx, abs)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "state", "pull")
	cmd.Dir = abs
	cmd.Env = runner.Environ(s.opts.Environ, s.workspaceVariable())
	var printed, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &said
	if err := runner.RunShort(ctx, cmd); err != nil {
		return nil, failure.Error("State not read",
			"The state of the directory %s is kept by the backend %q, from which %s could not get it: %s.\n\n%s",
			dir, backend, filepath.Base(program), failure.Reason(err), strings.TrimSpace(said.String()))
	}
	return printed.Bytes(), nil
}

// workspaceVariable is the environment variable with the workspace, which is kept from engines
// otherwise.
func (s *Service) workspaceVariable() map[string]string {
	if name := environ.Get(s.opts.Environ, initdir.WorkspaceVariable); name != "" {
		return map[string]string{initdir.WorkspaceVariable: name}
	}
	return nil
}

// findEngine returns the program that is used in a directory.
func (s *Service) findEngine(ctx context.Context, dir string) (string, error) {
	stack := operation.Open(operation.Options{
		Env: env.Options{Dir: dir, Environ: s.opts.Environ, Log: s.opts.Log}, Shared: &s.shared, Engine: engines.Request{ChangesNothing: true},
	})
	search, err := stack.Engines().Search()
	if err != nil {
		return "", err
	}
	found, err := search.Find(ctx)
	if err != nil {
		return "", engines.Unusable(err)
	}
	return found.Path, nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// The codes of failures about deployments for which a caller may know a remedy of its own.
const (
	// CodeDeploymentName is of names that no deployment can have.
	CodeDeploymentName fault.Code = "operation/deployment-name"

	// CodeSeveralDeployments is of operations on one deployment of a stack that has several.
	CodeSeveralDeployments fault.Code = "operation/several-deployments"

	// CodeLeftDeployment is of states of deployments of which the files have no block.
	CodeLeftDeployment fault.Code = "operation/left-deployment"

	// CodeLeftDefault is the same of a state from before there were deployment files.
	CodeLeftDefault fault.Code = "operation/left-default-deployment"

	// CodeNotDeclared is of a deployment that is named and of which the files have no block.
	CodeNotDeclared fault.Code = "operation/deployment-not-declared"
)

// Deployments returns the declarations of the deployment files of the stack, nil if there are none.
// With errors it holds the readable part.
func (s *Stack) Deployments() (*deployconfig.Config, hcl.Diagnostics) {
	if s.opts.Resolver != nil {
		return nil, nil // their caller knows of them
	}
	if s.declared == nil {
		s.declared = s.opts.Shared.deployments.In(absolute(s.dir))
		if config := s.declared.Config; config != nil {
			maps.Copy(s.opts.Files, config.Files)
		}
	}
	return s.declared.Config, s.declared.Diags
}

// deploymentConfig is [Stack.Deployments] for those to whom mistakes were, or will be, reported by
// another.
func (s *Stack) deploymentConfig() *deployconfig.Config {
	config, _ := s.Deployments() //nolint:errcheck // see above
	return config
}

// UseDeployment says which deployment is meant of a stack of which only files were read yet.
func (s *Stack) UseDeployment(name string) { s.opts.Deployment = name }

// namedDeployment returns the name that was given; empty if there was none.
func (s *Stack) namedDeployment() string {
	return cmp.Or(s.opts.Deployment, s.getenv(DeploymentVariable))
}

// deploymentName returns which deployment is meant: the one that is named, or the only one that
// there is.
func (s *Stack) deploymentName() (string, error) {
	name := s.namedDeployment()
	if name == "" {
		return s.onlyDeployment()
	}
	if !settings.IsDeployment(name) {
		return "", hcl.Diagnostics{failure.WithCode(CodeDeploymentName, failure.New("Invalid deployment name",
			"The name %q must be of letters, digits, \"_\" and \"-\", 63 at most, and not begin with \"-\".", name))}
	}
	return name, nil
}

func (s *Stack) onlyDeployment() (string, error) {
	config, diags := s.Deployments()
	switch {
	case diags.HasErrors():
		return "", diags
	case config == nil:
		return settings.DefaultDeployment, nil
	case len(config.Order) == 1:
		return config.Order[0], nil
	}
	return "", hcl.Diagnostics{failure.WithCode(CodeSeveralDeployments, failure.New("Several deployments",
		"This is about one deployment, and the stack has several: %s. Name one.", strings.Join(config.Order, ", ")))}
}

// deploymentBlock returns the block of the deployment, nil if the stack has no deployment files. It
// is an error if they have none of that name.
func (s *Stack) deploymentBlock(name string) (*deployconfig.Deployment, hcl.Diagnostics) {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil, diags
	}
	if declared := config.Deployments[name]; declared != nil {
		return declared, diags
	}
	return nil, diags.Append(NotDeclared(config, name))
}

// NotDeclared says that deployment files have no deployment of that name, or none that a pattern
// matches.
func NotDeclared(config *deployconfig.Config, name string) *hcl.Diagnostic {
	return failure.WithCode(CodeNotDeclared, failure.New("Deployment not declared", "The deployment files have no deployment %q.%s The deployments are: %s. "+
		"To destroy what one manages whose block was deleted, put the block back with destroy = true, apply, and delete it again.",
		name, nearest.DidYouMean(name, config.Order), strings.Join(config.Order, ", ")))
}

// CheckDeployments checks the deployment files of a stack that is installed against its variables
// and outputs.
func (s *Stack) CheckDeployments() hcl.Diagnostics {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() || s.loaded == nil || s.loaded.config == nil {
		return nil // which is reported elsewhere
	}
	return s.declared.CheckStack(s.loaded.config)
}

// CheckLeftDeployments fails if the store has objects of deployments of which the deployment files
// have no block, as of one whose block was deleted before its objects were destroyed.
func (s *Stack) CheckLeftDeployments(ctx context.Context) hcl.Diagnostics {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil // which is reported elsewhere
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return Diagnostics(err)
	}
	left, err := declared.Left(ctx, config, store)
	if err != nil {
		return Diagnostics(err)
	}
	if len(left) == 0 {
		return nil
	}
	remedy := "Put its block back with destroy = true and its inputs, apply, and delete it then."
	code := CodeLeftDeployment
	if slices.Equal(left, []string{settings.DefaultDeployment}) {
		code, remedy = CodeLeftDefault, "It is what was applied before there were deployment files: declare a deployment of this name, or give another one that state."
	}
	return hcl.Diagnostics{failure.WithCode(code, failure.New("Deployment block missing",
		"The state has objects of the deployment %s, of which no block is there. %s", strings.Join(left, ", "), remedy))}
}

// DeploymentStates returns the deployments that are declared, in the order of their blocks, and
// then those that only have a state, sorted by name.
func (s *Stack) DeploymentStates(ctx context.Context) ([]declared.Deployment, hcl.Diagnostics) {
	config, diags := s.Deployments()
	if diags.HasErrors() {
		return nil, diags
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	listed, err := declared.List(ctx, config, store)
	return listed, diags.Extend(Diagnostics(err))
}

// DeploymentState returns one of [Stack.DeploymentStates].
func (s *Stack) DeploymentState(ctx context.Context, name string) (declared.Deployment, hcl.Diagnostics) {
	listed, diags := s.DeploymentStates(ctx)
	if diags.HasErrors() {
		return declared.Deployment{}, diags
	}
	found, err := declared.Find(listed, name)
	return found, diags.Extend(Diagnostics(err))
}

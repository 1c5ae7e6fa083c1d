// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sources

import (
	"maps"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// The codes of failures about deployments for which a caller may know a remedy of its own.
const (
	// CodeDeploymentName is of names that no deployment can have.
	CodeDeploymentName fault.Code = "operation/deployment-name"

	// CodeSeveralDeployments is of operations on one deployment of a stack that has several.
	CodeSeveralDeployments fault.Code = "operation/several-deployments"

	// CodeNotDeclared is of a deployment that is named and of which the files have no block.
	CodeNotDeclared fault.Code = "operation/deployment-not-declared"
)

// Deployments returns the declarations of the deployment files of the stack, nil if there are none.
// With errors it holds the readable part.
func (s *Sources) Deployments() (*deployconfig.Config, hcl.Diagnostics) {
	if s.opts.Resolver != nil {
		return nil, nil // their caller knows of them
	}
	if s.read.files == nil {
		s.read.files = s.opts.Shared.deployments.In(env.Absolute(s.env.Dir))
		if config := s.read.files.Config; config != nil {
			maps.Copy(s.env.Files, config.Files)
		}
	}
	return s.read.files.Config, s.read.files.Diags
}

// Declared is [Sources.Deployments] for those to whom mistakes were, or will be, reported by
// another.
func (s *Sources) Declared() *deployconfig.Config {
	config, _ := s.Deployments() //nolint:errcheck // see above
	return config
}

// Publishes reports whether the deployment files have publish_output blocks.
func (s *Sources) Publishes() bool {
	config := s.Declared()
	return config != nil && len(config.Published) > 0
}

// Deployment returns which deployment is meant: the one that is named, or the only one that there
// is.
func (s *Sources) Deployment() (string, error) {
	name := s.env.NamedDeployment()
	if name == "" {
		return s.onlyDeployment()
	}
	if !settings.IsDeployment(name) {
		return "", hcl.Diagnostics{failure.With(CodeDeploymentName, failure.New("Invalid deployment name",
			"The name %q must be of letters, digits, \"_\" and \"-\", 63 at most, and not begin with \"-\".", name))}
	}
	return name, nil
}

func (s *Sources) onlyDeployment() (string, error) {
	config, diags := s.Deployments()
	switch {
	case diags.HasErrors():
		return "", diags
	case config == nil:
		return settings.DefaultDeployment, nil
	case len(config.Order) == 1:
		return config.Order[0], nil
	}
	return "", hcl.Diagnostics{failure.With(CodeSeveralDeployments, failure.New("Several deployments",
		"This is about one deployment, and the stack has several: %s. Name one.", strings.Join(config.Order, ", ")))}
}

// Block returns the block of a deployment, nil if the stack has no deployment files. It is an error
// if they have none of that name.
func (s *Sources) Block(name string) (*deployconfig.Deployment, hcl.Diagnostics) {
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
	return failure.With(CodeNotDeclared, failure.New("Deployment not declared", "The deployment files have no deployment %q.%s The "+
		"deployments are: %s. "+
		"To destroy the objects of one whose block was deleted, put the block back with destroy = true, apply, and delete it again.",
		name, nearest.DidYouMean(name, config.Order), strings.Join(config.Order, ", ")))
}

// CheckDeployments checks the deployment files against the variables and outputs of a
// configuration.
func (s *Sources) CheckDeployments(config *stackconfig.Config) hcl.Diagnostics {
	if declared, diags := s.Deployments(); declared == nil || diags.HasErrors() || config == nil {
		return nil // which is reported elsewhere
	}
	return s.read.files.CheckStack(config)
}

// RunsDir is where the engine keeps the changes of the deployment's applies until they are in the
// state. Where it is not known which deployment is meant, nothing can be applied, and any will do:
// that of an operation on the configuration alone.
func (s *Sources) RunsDir() (string, error) {
	name, err := s.Deployment()
	if err != nil && s.env.NamedDeployment() == "" {
		name, err = settings.DefaultDeployment, nil
	}
	switch {
	case err != nil:
		return "", err
	case name == settings.DefaultDeployment:
		return filepath.Join(s.env.WorkDir, "runs"), nil
	}
	return filepath.Join(s.env.WorkDir, "deployments", name, "runs"), nil
}

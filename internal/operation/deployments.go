// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// The codes of failures about deployments for which a caller may know a remedy of its own.
const (
	// CodeDeploymentName is of names that no deployment can have.
	CodeDeploymentName failure.Code = "operation/deployment-name"

	// CodeSeveralDeployments is of operations on one deployment of a stack that has several.
	CodeSeveralDeployments failure.Code = "operation/several-deployments"

	// CodeLeftDeployment is of states of deployments of which the files have no block.
	CodeLeftDeployment failure.Code = "operation/left-deployment"
)

// Deployments returns what the deployment files of the stack declare, nil if there are none. With errors it holds what could be understood.
func (s *Stack) Deployments() (*deployconfig.Config, hcl.Diagnostics) {
	if s.opts.Resolver != nil {
		return nil, nil // their caller knows of them
	}
	if s.declared == nil {
		s.declared = s.opts.Shared.deployments.of(absolute(s.dir))
		if config := s.declared.config; config != nil {
			maps.Copy(s.opts.Files, config.Files)
		}
	}
	return s.declared.config, s.declared.diags
}

// deploymentConfig is [Stack.Deployments] for those to whom mistakes were, or will be, reported by another.
func (s *Stack) deploymentConfig() *deployconfig.Config {
	config, _ := s.Deployments() //nolint:errcheck // see above
	return config
}

// loadedDeployments is what deployment files declare, with what was found wrong with it.
type loadedDeployments struct {
	config *deployconfig.Config
	diags  hcl.Diagnostics

	mu struct {
		sync.Mutex
		stack   string          // by its files; "" if none was checked
		checked hcl.Diagnostics // what CheckStack says of all deployments
	}
}

// checkStack checks what the files say about the stack, once for all deployments of it that are worked on, as long as its files stay the same.
func (l *loadedDeployments) checkStack(config *stackconfig.Config) hcl.Diagnostics {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(config.Files)) {
		fmt.Fprintf(sum, "%q %q\n", name, config.Files[name].Bytes)
	}
	stack := string(sum.Sum(nil))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.stack != stack {
		l.mu.stack, l.mu.checked = stack, l.config.CheckStack(config.Root)
	}
	return slices.Clone(l.mu.checked)
}

// knownDeployments are deployment files that were read, by the directory of their stack. Those of a stack with many deployments are read once for all operations on these,
// as long as the files stay the same. The zero value knows none. Safe for concurrent use.
type knownDeployments struct {
	mu struct {
		sync.Mutex
		loaded map[string]*loadedDeployments
	}
}

// of returns what the deployment files in a directory declare.
func (k *knownDeployments) of(dir string) *loadedDeployments {
	k.mu.Lock()
	loaded := k.mu.loaded[dir]
	k.mu.Unlock()
	if loaded != nil && loaded.config.IsCurrent() {
		return loaded
	}
	loaded = &loadedDeployments{}
	loaded.config, loaded.diags = deployconfig.Load(dir)
	if loaded.config == nil {
		return loaded // without files there is nothing to keep
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.loaded == nil {
		k.mu.loaded = map[string]*loadedDeployments{}
	}
	k.mu.loaded[dir] = loaded
	return loaded
}

// UseDeployment says which deployment is meant of a stack of which only files were read yet.
func (s *Stack) UseDeployment(name string) { s.opts.Deployment = name }

// namedDeployment returns the name that was given; empty if there was none.
func (s *Stack) namedDeployment() string {
	return cmp.Or(s.opts.Deployment, s.getenv(DeploymentVariable))
}

// deploymentName returns which deployment is meant: the one that is named, or the only one that there is.
func (s *Stack) deploymentName() (string, error) {
	name := s.namedDeployment()
	if name == "" {
		return s.onlyDeployment()
	}
	if !deployment.IsName(name) {
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
		return deployment.Default, nil
	case len(config.Order) == 1:
		return config.Order[0], nil
	}
	return "", hcl.Diagnostics{failure.WithCode(CodeSeveralDeployments, failure.New("Several deployments",
		"This is about one deployment, and the stack has several: %s. Name one.", strings.Join(config.Order, ", ")))}
}

// deploymentBlock returns the block of the deployment, nil if the stack has no deployment files. It is an error if they have none of that name.
func (s *Stack) deploymentBlock(name string) (*deployconfig.Deployment, hcl.Diagnostics) {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil, diags
	}
	if declared := config.Deployments[name]; declared != nil {
		return declared, diags
	}
	return nil, diags.Append(failure.New("Deployment not declared", "The deployment files have no deployment %q.%s The deployments are: %s. "+
		"To destroy what one manages whose block was deleted, put the block back with destroy = true, apply, and delete it again.",
		name, nearest.DidYouMean(name, config.Order), strings.Join(config.Order, ", ")))
}

// CheckDeployments checks the deployment files of a stack that is installed against its variables and outputs.
func (s *Stack) CheckDeployments() hcl.Diagnostics {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() || s.loaded == nil || s.loaded.config == nil {
		return nil // which is reported elsewhere
	}
	return s.declared.checkStack(s.loaded.config)
}

// CheckLeftDeployments fails if the store has objects of deployments of which the deployment files have no block, as of one whose block was deleted before what
// it manages was destroyed.
func (s *Stack) CheckLeftDeployments(ctx context.Context) hcl.Diagnostics {
	config, diags := s.Deployments()
	if config == nil || diags.HasErrors() {
		return nil // which is reported elsewhere
	}
	store, err := s.openStore(ctx)
	if err != nil {
		return Diagnostics(err)
	}
	names, err := store.Deployments(ctx)
	if err != nil {
		return Diagnostics(err)
	}
	var left []string
	for _, name := range names {
		if config.Deployments[name] != nil {
			continue
		}
		snapshot, err := store.Read(ctx, name)
		if err != nil {
			return Diagnostics(err)
		}
		state, err := deployment.Decode(snapshot.Records)
		if err != nil {
			return Diagnostics(err)
		}
		if len(state.Components) > 0 {
			left = append(left, name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	remedy := "Put its block back with destroy = true and its inputs, apply, and delete it then."
	if slices.Equal(left, []string{deployment.Default}) {
		remedy = "It is what was applied before there were deployment files: declare a deployment of this name, or give another one that state."
	}
	return hcl.Diagnostics{failure.WithCode(CodeLeftDeployment, failure.New("Deployment block missing",
		"The state has objects of the deployment %s, of which no block is there. %s", strings.Join(left, ", "), remedy))}
}

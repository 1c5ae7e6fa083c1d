// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/order/workspace"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// deploymentVariable is the environment variable that names a deployment.
const deploymentVariable = "CAIRN_DEPLOYMENT"

// chooseDeployment finds out which deployment is meant.
func (s *session) chooseDeployment() error {
	name := firstSet(s.options.deployment, os.Getenv(deploymentVariable), defaultDeployment)
	if !workspace.IsDeployment(name) {
		return fail("Invalid name of a deployment", "The name %q, from -deployment or %s, must be of letters, digits, \"_\" and \"-\", 63 at most, and not begin with \"-\".",
			name, deploymentVariable)
	}
	s.deployment = name
	return nil
}

// sayNewDeployment says, once, that there is no state of the deployment yet while there are some of others: its name may be misspelt, and
// everything would be made once more.
func (s *session) sayNewDeployment(ctx context.Context, store statestore.Store) error {
	if s.saidNew {
		return nil
	}
	s.saidNew = true
	others, err := store.Deployments(ctx)
	if err != nil || len(others) == 0 {
		return err
	}
	hint := didYouMean(s.deployment, others, "")
	names, more := others, ""
	if len(names) > 10 {
		names, more = names[:10], fmt.Sprintf(" and %d others", len(others)-10)
	}
	s.note("The deployment %q is new: there is no state of it, but there are those of %s%s.%s\n", s.deployment, strings.Join(names, ", "), more, hint)
	return nil
}

// runsDir is where the engine keeps what applies of a deployment have done until it is in the state.
func (s *session) runsDir() string {
	if s.deployment == defaultDeployment {
		return filepath.Join(dataDir(), "runs")
	}
	return filepath.Join(dataDir(), "deployments", s.deployment, "runs")
}

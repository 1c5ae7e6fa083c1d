// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/order/workspace"
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

// runsDir is where the engine keeps what applies of a deployment have done until it is in the state.
func (s *session) runsDir() string {
	if s.deployment == defaultDeployment {
		return filepath.Join(dataDir(), "runs")
	}
	return filepath.Join(dataDir(), "deployments", s.deployment, "runs")
}

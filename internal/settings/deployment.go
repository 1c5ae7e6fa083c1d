// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import "regexp"

// DefaultDeployment is the deployment of a stack for which nobody names another.
const DefaultDeployment = "default"

var deploymentName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$`)

// IsDeployment reports whether a deployment can have a name. It may be that of a directory.
func IsDeployment(name string) bool { return deploymentName.MatchString(name) }

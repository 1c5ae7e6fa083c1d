// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import "github.com/hashicorp/hcl/v2"

func loadDir(dir, base string) (program, hcl.Diagnostics) {
	return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Module not found", Detail: "There is no module in " + dir + "."}}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"fmt"
	"os"
	"path/filepath"
)

// ShareVariables makes the values of variables readable for a process under the name
// [VariablesFile].
//
// Where the system allows it they are not in a file, and the name is a link to the process's
// descriptor 3 (rule W5). The result is then not nil: it is the data that the process must be able
// to read there.
func (c *Copy) ShareVariables() (piped []byte, err error) {
	name := filepath.Join(c.Root, VariablesFile)
	if err := os.RemoveAll(name); err != nil {
		return nil, fmt.Errorf("sharing values of variables: %w", err)
	}
	if descriptorsHaveNames() && os.Symlink(descriptorPath, name) == nil {
		return c.variables, nil
	}
	if err := c.writeFile(VariablesFile, c.variables); err != nil {
		return nil, fmt.Errorf("sharing values of variables: %w", err)
	}
	return nil, nil
}

// descriptorPath leads any process to the first file that it has inherited besides the standard
// streams.
const descriptorPath = "/dev/fd/3"

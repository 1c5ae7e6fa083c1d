// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"fmt"
	"os"
	"path/filepath"
)

// ShareVariables makes the values of variables readable for a process under the name [VariablesFile].
//
// Where the system allows it they are in memory only, and the name is a link to what a process has open as
// descriptor 3 (rule W5). The result is then not nil: the process must inherit it under that number, and the
// caller closes it once the process has started. Otherwise the values are in a file.
func (c *Copy) ShareVariables() (inherited *os.File, err error) {
	name := filepath.Join(c.Root, VariablesFile)
	if err := os.RemoveAll(name); err != nil {
		return nil, fmt.Errorf("sharing values of variables: %w", err)
	}
	if file := inMemory(c.variables); file != nil {
		err := os.Symlink(descriptorPath, name)
		if err == nil {
			return file, nil
		}
		_ = file.Close() //nolint:errcheck // a file does as well
	}
	if err := c.writeFile(VariablesFile, c.variables); err != nil {
		return nil, fmt.Errorf("sharing values of variables: %w", err)
	}
	return nil, nil
}

// descriptorPath leads any process to the first file that it has inherited beside the standard streams.
const descriptorPath = "/dev/fd/3"

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"io"

	"github.com/cairnstacks/cairn/internal/durable"
)

// WriteFile is [Write] into a file that only its owner can read, since plans hold values in clear.
// After an error, an earlier file at the path is still there and no half file is left behind.
func WriteFile(path string, p *Plan, file FileContext) (identity string, err error) {
	err = durable.Replace(path, func(w io.Writer) error {
		identity, err = Write(w, p, file)
		return err
	})
	return identity, err
}

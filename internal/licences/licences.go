// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package licences has the licence texts of all that the program is made of: its own, that of Go's
// standard library, and those of the modules that are linked on any platform. Their licences ask
// for that wherever the program is given away.
package licences

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
)

//go:generate go run github.com/cairnstacks/cairn/internal/buildtool licences

//go:embed licences.txt.gz
var packed []byte

// Write writes the texts, each after the names of those that have it.
func Write(w io.Writer) error {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("unpacking the licences: %w", err)
	}
	_, err = io.Copy(w, unpacked) //nolint:gosec // made by this program's build
	return err
}

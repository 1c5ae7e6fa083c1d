// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Content is the text of all files of a configuration.
type Content struct{ files [][]byte }

// Read reads the files of a configuration.
func Read(env []string) (Content, error) {
	var content Content
	for _, name := range Files(env) {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Content{}, fmt.Errorf("the CLI configuration cannot be read: %w", err)
		}
		content.files = append(content.files, data)
	}
	return content, nil
}

// Digest is another one for another text.
func (c Content) Digest() string {
	sum := sha256.New()
	for _, file := range c.files {
		one := sha256.Sum256(file)
		sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

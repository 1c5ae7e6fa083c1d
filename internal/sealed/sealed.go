// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sealed guards files that can be made again: each begins with a checksum of the rest, so
// that damage by a disk, or by a program that was cut off, is noticed. A checksum does not protect
// from people, who can make one.
package sealed

import (
	"crypto/sha256"
	"encoding/hex"
)

// Seal returns the content of a file of a kind. Another kind or version of content needs another
// name, which has no line feed in it.
func Seal(kind string, content []byte) []byte { return append(header(kind, content), content...) }

// Open returns the sealed content. It returns false for a file that is damaged, or of another kind.
func Open(kind string, file []byte) (content []byte, whole bool) {
	size := len(header(kind, nil))
	if len(file) < size {
		return nil, false
	}
	content = file[size:]
	return content, string(header(kind, content)) == string(file[:size])
}

func header(kind string, content []byte) []byte {
	sum := sha256.Sum256(content)
	return []byte(kind + " " + hex.EncodeToString(sum[:]) + "\n")
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// The kinds of files.
const (
	PlanFile    = "plan"
	PlanSet     = "set of plans"
	RescueFile  = "rescue file"
	JournalFile = "journal"
)

// fileKind begins each encrypted file, before its checksum.
const fileKind = "cairn encrypted file 1"

// FileStart is how many bytes of a file say whether it is encrypted.
const FileStart = len(fileKind)

// IsSealedFile reports whether a file is an encrypted one, or was one before some of its first
// bytes were damaged: it must not be taken for something in clear (rule E2).
func IsSealedFile(content []byte) bool {
	if len(content) < len(fileKind) {
		return false
	}
	const damaged = 4
	same := 0
	for i := range len(fileKind) {
		if content[i] == fileKind[i] {
			same++
		}
	}
	return same >= len(fileKind)-damaged
}

// SealFile encrypts the content of a file of a kind, if that is demanded. Otherwise it returns the
// content as it is.
//
// All of a file is in memory: so are plans and states when they are made, and when they are read.
func (k *Keyring) SealFile(ctx context.Context, kind string, content []byte) ([]byte, error) {
	root, err := k.ForFiles(ctx)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return content, nil
	}
	header, err := json.Marshal(root.wrapped)
	if err != nil {
		return nil, err
	}
	return sealed.Seal(fileKind, append(append(header, '\n'), root.Seal(kind, content)...)), nil
}

// OpenFile returns the content of a file of a kind. One in clear is returned as it is, unless
// encryption is demanded. The text names the file in messages.
func (k *Keyring) OpenFile(ctx context.Context, kind, what string, file []byte) ([]byte, error) {
	if !IsSealedFile(file) {
		if k.Demands() {
			return nil, Clear(what)
		}
		return file, nil
	}
	content, whole := sealed.Open(fileKind, file)
	header, body, found := bytes.Cut(content, []byte("\n"))
	var w Wrapped
	if !whole || !found || json.Unmarshal(header, &w) != nil {
		return nil, Damaged(what)
	}
	root, err := k.Unwrap(ctx, w, what)
	if err != nil {
		return nil, err
	}
	opened, ok := root.Open(kind, body)
	if !ok {
		return nil, Damaged(what)
	}
	return opened, nil
}

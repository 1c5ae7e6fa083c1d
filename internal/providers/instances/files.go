// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"crypto/sha256"
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/sealed"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// schemaFiles is a directory with a file for each package.
type schemaFiles struct{ sealed.Dir }

func schemaFilesIn(dir string) schemaFiles {
	return schemaFiles{sealed.Dir{Path: dir, Suffix: ".provider", Kind: "cairn provider 1"}}
}

func nameOf(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:])[:40]
}

// load returns the schemas that are kept for a package, nil if they are not there as a whole.
func (f schemaFiles) load(hash string) *pluginv1.SchemaAnswer {
	if hash == "" {
		return nil
	}
	content, whole := f.Load(nameOf(hash))
	answer := &pluginv1.SchemaAnswer{}
	if !whole || proto.Unmarshal(content, answer) != nil {
		return nil
	}
	return answer
}

// store keeps an answer. It does nothing without a directory, and for a package that is not known
// by a hash.
func (f schemaFiles) store(hash string, answer *pluginv1.SchemaAnswer) error {
	if hash == "" {
		return nil
	}
	content, err := proto.Marshal(answer)
	if err != nil {
		return err
	}
	return f.Store(nameOf(hash), content)
}

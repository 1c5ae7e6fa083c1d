// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/sealed"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// schemaFiles is a directory with a file for each package, which begins with a checksum of the
// rest. Files are for their owner alone, and are replaced as a whole.
type schemaFiles struct{ dir string }

const (
	fileSuffix = ".provider"
	fileKind   = "cairn provider 1"

	temporaryPrefix = ".new-"
)

func (f schemaFiles) path(hash string) string {
	return filepath.Join(f.dir, checksum([]byte(hash))[:40]+fileSuffix)
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// load returns the schemas that are kept for a package, nil if they are not there as a whole.
func (f schemaFiles) load(hash string) *pluginv1.SchemaAnswer {
	if f.dir == "" || hash == "" {
		return nil
	}
	content, err := os.ReadFile(f.path(hash))
	if err != nil {
		return nil
	}
	rest, whole := sealed.Open(fileKind, content)
	answer := &pluginv1.SchemaAnswer{}
	if !whole || proto.Unmarshal(rest, answer) != nil {
		return nil
	}
	f.touch(hash)
	return answer
}

// store keeps an answer. It does nothing without a directory, and for a package that is not known
// by a hash.
func (f schemaFiles) store(hash string, answer *pluginv1.SchemaAnswer) error {
	if f.dir == "" || hash == "" {
		return nil
	}
	content, err := proto.Marshal(answer)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	f.prune(time.Now())
	return replace(f.path(hash), sealed.Seal(fileKind, content))
}

// replace writes a file as a whole: no reader sees half of it, and of several writers one wins.
func replace(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), temporaryPrefix+"*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(content).WriteTo(temporary)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// keepUnused is how long a file stays after it was last read, and touchAfter how exactly that is
// known.
const (
	keepUnused = 60 * 24 * time.Hour
	touchAfter = 24 * time.Hour
)

// touch records that a file is in use.
func (f schemaFiles) touch(hash string) {
	path, now := f.path(hash), time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchAfter {
		_ = os.Chtimes(path, now, now) //nolint:errcheck // it is made again if it is removed too early
	}
}

// prune removes files that nobody has used for long, also those that a killed process has not
// finished.
func (f schemaFiles) prune(now time.Time) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		ours := strings.HasSuffix(entry.Name(), fileSuffix) || strings.HasPrefix(entry.Name(), temporaryPrefix)
		if err == nil && ours && info.Mode().IsRegular() && now.Sub(info.ModTime()) > keepUnused {
			_ = os.Remove(filepath.Join(f.dir, entry.Name())) //nolint:errcheck // the next one tries again
		}
	}
}

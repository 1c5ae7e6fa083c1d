// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package workdir makes the directory for an operation's findings, packages and installations, and
// believes only those contents of one that this user's cairn has put there.
package workdir

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/filelock"
)

// Variable is of the environment, and names another place for a working directory.
const Variable = "CAIRN_DATA_DIR"

// ownerFile is the file in a working directory with the proof that this user's cairn has made it
// there.
const ownerFile = "owner"

// workCaches are the contents of a working directory that are believed, and that would be believed
// of one that somebody else has made:
//   - data, init: programs of providers, and the engine's notes next to them;
//   - engine.json, schemas, valid: findings about the engine, providers and modules, in place of
//     asking them;
//   - engine.log: believed by nobody, but written to, with values; it could be a link to any file,
//     or be readable by everybody.
//
// Files written by modules are none of these: nothing is run or found out from them, they cannot be
// made anew without an apply, and an attacker who brings files there could as well bring them in
// the directories of the modules. Nor are the records of applies: these are known by the secret of
// the state.
var workCaches = []string{"data", "engine.json", "engine.log", "init", "schemas", "valid"}

// writtenDir is where modules' files are kept, for each deployment. It is removed only if it is a
// link, through which files elsewhere would be replaced.
const writtenDir = "written"

// Own removes the believed contents of a working directory unless this user's cairn has made the
// directory there: otherwise the author of a repository could commit one, and so have a program run
// in place of a provider. Removed contents are made anew. It reports whether there was anything to
// remove.
//
// Errors: [ErrNoKey], after which everything is believed; others are about contents that could not
// be removed or marked.
func Own(dir string) (removed bool, err error) {
	name, key, err := readOwnerKey()
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoKey, err)
	}
	mark, err := ownerMark(key, dir)
	if err != nil || isMarked(dir, mark) {
		return false, err
	}
	lock, err := lockFile(name + ".lock")
	if err != nil {
		return false, err
	}
	defer lock.Close()       //nolint:errcheck // nothing was written
	if isMarked(dir, mark) { // by another program, which may already use it
		return false, nil
	}
	removed, err = removeCaches(dir)
	return removed, errors.Join(err, writeMark(dir, mark))
}

// ErrNoKey says that there is no place for a key of the user's, by which a working directory would
// be known.
var ErrNoKey = errors.New("no key of the user's")

// removeCaches reports whether there was anything to remove.
func removeCaches(dir string) (removed bool, err error) {
	var paths []string
	for _, name := range workCaches {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	written, _ := filepath.Glob(filepath.Join(dir, "deployments", "*", writtenDir)) //nolint:errcheck // the pattern is right
	for _, path := range append(written, filepath.Join(dir, writtenDir)) {
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return false, nil
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return false, failure.Error("Working directory behind a link", "%s is a symbolic link, which cairn has not made, and the files in its "+
			"target could come from anybody. "+
			"Nothing was removed there. Remove the link, or name that directory with %s=DIR.", dir, Variable)
	}
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path)) // of links only the link
	}
	return true, err
}

// IsOwn reports whether this user's cairn has made a working directory. It changes nothing.
func IsOwn(dir string) bool {
	name, err := ownerKeyFile()
	if err != nil {
		return false
	}
	key, err := os.ReadFile(name)
	if err != nil || len(key) == 0 {
		return false
	}
	mark, err := ownerMark(key, dir)
	return err == nil && isMarked(dir, mark)
}

func isMarked(dir, mark string) bool {
	have, err := os.ReadFile(filepath.Join(dir, ownerFile))
	return err == nil && hmac.Equal(have, []byte(mark))
}

func writeMark(dir, mark string) error {
	name := filepath.Join(dir, ownerFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // and through no link
	if err != nil {
		return err
	}
	_, err = file.WriteString(mark)
	return errors.Join(err, file.Close())
}

// ownerMark is a text about a directory that only this user can make, valid as long as it is where
// it is.
func ownerMark(key []byte, dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(path)) // never fails
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// readOwnerKey returns the user's key and its file, which is nowhere near a stack. It is made when
// it is first needed.
func readOwnerKey() (name string, key []byte, err error) {
	name, err = ownerKeyFile()
	if err != nil {
		return "", nil, err
	}
	key, err = os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeOwnerKey(name); err == nil {
			key, err = os.ReadFile(name)
		}
	}
	if err == nil && len(key) == 0 {
		err = fmt.Errorf("%s is empty", name)
	}
	return name, key, err
}

func ownerKeyFile() (string, error) {
	caches, err := os.UserCacheDir()
	return filepath.Join(caches, "cairn", "key"), err
}

// makeOwnerKey makes the key whole, unless another program does at the same time.
func makeOwnerKey(name string) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(name), ".key-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	_, err = draft.WriteString(rand.Text())
	if err := errors.Join(err, draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), name); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// lockFile waits for the lock of a file, which others have for an instant. It ends when the file is
// closed.
func lockFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		locked, err := filelock.TryLock(file)
		if locked {
			return file, nil
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		<-pause.C
	}
}

// Make makes a working directory, which version control is to ignore. Errors: also that it is not
// writable.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, CheckWritable(dir))
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// CheckWritable fails if no file can be made in a directory. The file always has the same name, so
// that programs that are killed leave one at most.
func CheckWritable(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, ".writable"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = os.Remove(file.Name())
	if errors.Is(err, fs.ErrNotExist) { // by another program that asks the same
		err = nil
	}
	return errors.Join(file.Close(), err)
}

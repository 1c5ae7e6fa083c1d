// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// directoryBucket is a directory, which several machines may mount. The library for object storage
// has such a bucket, too; its check that an object is new holds within one process, and it leaves
// files to the cache of the system.
type directoryBucket struct {
	directory string
}

const (
	directoryMode = 0o700
	fileMode      = 0o600

	// draftPrefix begins the names of files that are being written. An object has none.
	draftPrefix = ".draft-"
)

func (b *directoryBucket) Close() error { return nil }

func (b *directoryBucket) path(name string) string {
	return filepath.Join(b.directory, filepath.FromSlash(name))
}

// create implements [Bucket]. A link is made only if its name is new, which file servers guarantee,
// too.
func (b *directoryBucket) Create(_ context.Context, name string, content []byte) error {
	return b.write(name, content, func(draft, path string) error {
		err := os.Link(draft, path)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
}

func (b *directoryBucket) Put(_ context.Context, name string, content []byte) error {
	return b.write(name, content, os.Rename)
}

// write has a complete file on the disk before it gets its name, and the name before it returns.
func (b *directoryBucket) write(name string, content []byte, publish func(draft, path string) error) (err error) {
	path := b.path(name)
	directory := filepath.Dir(path)
	if err := b.makeDirectory(directory); err != nil {
		return err
	}
	draft := filepath.Join(directory, draftPrefix+rand.Text())
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.Remove(draft); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := publish(draft, path); err != nil {
		return err
	}
	return durable.Dir(directory)
}

// makeDirectory makes a directory below that of the bucket, which itself may be a mount that is
// missing.
func (b *directoryBucket) makeDirectory(directory string) error {
	if _, err := os.Stat(directory); err == nil {
		return nil
	}
	if _, err := os.Stat(b.directory); err != nil {
		return err
	}
	return durable.MakeDir(directory, directoryMode)
}

func (b *directoryBucket) Read(_ context.Context, name string) ([]byte, error) {
	content, err := os.ReadFile(b.path(name))
	return content, b.missing(err)
}

// missing returns ErrMissing for an object that is not there, and not for the whole directory.
func (b *directoryBucket) missing(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, dirErr := os.Stat(b.directory); dirErr != nil {
		return dirErr
	}
	return ErrMissing
}

func (b *directoryBucket) Modified(_ context.Context, name string) (time.Time, error) {
	info, err := os.Stat(b.path(name))
	if err != nil {
		return time.Time{}, b.missing(err)
	}
	return info.ModTime(), nil
}

// list implements [Bucket]. The token is the last name of the page before.
func (b *directoryBucket) List(_ context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error) {
	err = b.walk(prefix, func(name string) bool {
		if name > string(token) {
			names = append(names, name)
		}
		return len(names) <= most
	})
	if len(names) > most {
		names = names[:most]
		next = []byte(names[most-1])
	}
	return names, next, err
}

var errEnough = errors.New("enough")

// walk calls a function for the names of the objects in a folder and those below it, in their
// order, until it returns false. Only the directories on the way are read.
func (b *directoryBucket) walk(prefix string, found func(name string) bool) error {
	var within func(prefix string) error
	within = func(prefix string) error {
		entries, err := os.ReadDir(b.path(prefix))
		if errors.Is(b.missing(err), ErrMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		// As their names have slashes at their ends then, directories have another order among files.
		names := make([]string, 0, len(entries))
		for _, entry := range entries {
			switch {
			case entry.IsDir():
				names = append(names, entry.Name()+"/")
			case !strings.HasPrefix(entry.Name(), draftPrefix):
				names = append(names, entry.Name())
			}
		}
		slices.Sort(names)
		for _, name := range names {
			if strings.HasSuffix(name, "/") {
				if err := within(prefix + name); err != nil {
					return err
				}
			} else if !found(prefix + name) {
				return errEnough
			}
		}
		return nil
	}
	if err := within(prefix); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (b *directoryBucket) Folders(_ context.Context, prefix string) (names []string, err error) {
	entries, err := os.ReadDir(b.path(prefix))
	if errors.Is(b.missing(err), ErrMissing) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func (b *directoryBucket) Remove(_ context.Context, name string) error {
	if err := os.Remove(b.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// problem implements [Bucket].
func (b *directoryBucket) Problem(err error) Fault {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Fault{statestore.ProblemNoDirectory, "is not there", "make the directory, mount it, or correct the location"}
	case errors.Is(err, fs.ErrPermission):
		return Fault{
			statestore.ProblemAccess, "may not be used by " + statestore.CurrentOwner(),
			"give this user permission to read and write " + b.directory,
		}
	case errors.Is(err, syscall.EROFS):
		return Fault{statestore.ProblemReadOnly, "can be read but not changed", "mount " + b.directory + " for writing"}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return Fault{
			statestore.ProblemFull, "cannot be written: there is no space left",
			"free some space there and run the command again; everything stored so far is intact",
		}
	case errors.Is(err, syscall.ENOTDIR):
		return Fault{statestore.ProblemURL, "is not a directory", "give the path of a directory"}
	}
	return Fault{statestore.ProblemIO, "cannot be used", "look into the system's log"}
}

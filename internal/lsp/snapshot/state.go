// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// state has the component instances that the state of a stack had when its file was last read.
type state struct {
	sync.Mutex
	stamp     string // of the file
	instances []stackaddrs.AbsComponentInstance
}

// current returns a function that returns the instances in the state at its first call.
func (s *state) current(opened *operation.Stack) func() []stackaddrs.AbsComponentInstance {
	return sync.OnceValue(func() []stackaddrs.AbsComponentInstance { return s.read(opened) })
}

// read returns the instances in the state. It reads the file if that has changed. A state that
// cannot be read has none.
func (s *state) read(opened *operation.Stack) []stackaddrs.AbsComponentInstance {
	path := opened.States().File()
	if path == "" {
		return nil
	}
	s.Lock()
	defer s.Unlock()
	stamp := stampOfFile(path) + stampOfFile(path+"-wal")
	if stamp != s.stamp {
		s.stamp = stamp
		s.instances, _ = opened.States().Instances(context.Background()) //nolint:errcheck // operations report errors of a state
	}
	return s.instances
}

// stampOfFile changes when a file does.
func stampOfFile(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path + "\x00"
	}
	return fmt.Sprintf("%s %d %d\x00", path, info.Size(), info.ModTime().UnixNano())
}

// savedTexts returns the texts on the disk of files that have another one in the editor.
func savedTexts(files map[string]*File) map[string][]byte {
	saved := map[string][]byte{}
	for path, file := range files {
		if !file.Open {
			continue
		}
		if text, err := os.ReadFile(path); err == nil && !bytes.Equal(text, file.Text.Bytes()) {
			saved[path] = text
		}
	}
	return saved
}

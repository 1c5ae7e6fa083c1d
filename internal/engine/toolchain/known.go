// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"sync"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Known are binaries that were identified in this process, so that each is asked once for all
// callers that need it at the same time. The zero value knows none. It is safe for concurrent use.
type Known struct {
	mu struct {
		sync.Mutex
		answers map[binaryFile]*answer
	}
}

// binaryFile is a binary as long as it is not replaced.
type binaryFile struct {
	path          string
	size, modTime int64
}

// answer is a binary's own name and version.
type answer struct {
	once sync.Once
	info engine.Info
	err  error
}

// ask asks a binary that is not known. A caller that asks at the same time as another gets the same
// answer. An error is not remembered. Nil remembers nothing.
func (k *Known) ask(file binaryFile, ask func() (engine.Info, error)) (engine.Info, error) {
	if k == nil {
		return ask()
	}
	k.mu.Lock()
	known := k.mu.answers[file]
	if known == nil {
		if k.mu.answers == nil {
			k.mu.answers = map[binaryFile]*answer{}
		}
		known = &answer{}
		k.mu.answers[file] = known
	}
	k.mu.Unlock()
	known.once.Do(func() { known.info, known.err = ask() })
	if known.err != nil {
		k.mu.Lock()
		if k.mu.answers[file] == known {
			delete(k.mu.answers, file)
		}
		k.mu.Unlock()
	}
	return known.info, known.err
}

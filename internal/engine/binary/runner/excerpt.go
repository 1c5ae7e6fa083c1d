// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"io"
	"os"
	"strings"
)

// How many bytes are kept of a process's output besides events: the reason of a failure stands at
// the beginning or at the end. A state that the engine can save nowhere is the last that it prints.
const (
	headText      = 1 << 20
	tailText      = 128 << 20
	stderrExcerpt = 1 << 20 // at each end
)

// omitted stands for the lines that are left out.
const omitted = "[… output left out …]"

// excerpt keeps the first lines and the last ones.
type excerpt struct {
	head, tail int // bytes to keep of each

	first, last           []string
	firstBytes, lastBytes int
	dropped               bool
}

func (e *excerpt) add(line string) {
	size := len(line) + 1
	if len(e.last) == 0 && !e.dropped && e.firstBytes+size <= e.head {
		e.first, e.firstBytes = append(e.first, line), e.firstBytes+size
		return
	}
	e.last, e.lastBytes = append(e.last, line), e.lastBytes+size
	for e.lastBytes > e.tail && len(e.last) > 0 {
		e.lastBytes -= len(e.last[0]) + 1
		e.last[0] = ""
		e.last, e.dropped = e.last[1:], true
	}
}

func (e *excerpt) String() string {
	lines := e.first
	if e.dropped {
		lines = append(lines, omitted)
	}
	return strings.Join(append(lines, e.last...), "\n")
}

// readExcerpt returns the content of a file, of a large one as many bytes from each end.
func readExcerpt(name string, bytes int64) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() <= 2*bytes {
		content, err := io.ReadAll(file)
		return string(content), err
	}
	head, err := io.ReadAll(io.NewSectionReader(file, 0, bytes))
	if err != nil {
		return "", err
	}
	tail, err := io.ReadAll(io.NewSectionReader(file, info.Size()-bytes, bytes))
	return string(head) + "\n" + omitted + "\n" + string(tail), err
}

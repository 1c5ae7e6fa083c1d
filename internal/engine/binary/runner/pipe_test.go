// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPipedContentIsReadOnce(t *testing.T) {
	for name, size := range map[string]int{"fits": 1000, "does not fit": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			c := script(t, `cat <&3 >got; sh -c 'cat <&3' >child; wc -c <got`)
			c.Piped = bytes.Repeat([]byte("0123456789"), size/10)
			result := run(t, c, nil)
			if got := strings.TrimSpace(result.Text); got != strconv.Itoa(len(c.Piped)) {
				t.Errorf("the process has read %s bytes of %d; %s", got, len(c.Piped), result.Stderr)
			}
			if child, err := os.ReadFile(filepath.Join(c.Dir, "child")); err != nil || len(child) > 0 {
				t.Errorf("the process's child has read %d bytes, %v", len(child), err)
			}
		})
	}
}

// Whatever a process leaves unread, nobody waits for it.
func TestPipedContentIsNotRead(t *testing.T) {
	for name, text := range map[string]string{"not at all": "true", "in part": "head -c 10 <&3", "by nobody who stays": "exec sleep 60 " +
		">/dev/null 2>&1 & exit 3"} {
		t.Run(name, func(t *testing.T) {
			c := script(t, text)
			c.Piped = make([]byte, 3<<20)
			p, err := Start(c)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := killGroup(p.Run().PID); err != nil {
					t.Error(err)
				}
			})
			wait(t, t.Context(), p, nil)
		})
	}
}

func TestPipeOfNoProcess(t *testing.T) {
	c := script(t, "true")
	c.Path, c.Piped = filepath.Join(c.Dir, "missing"), make([]byte, 3<<20)
	before := openDescriptors(t)
	if _, err := Start(c); err == nil {
		t.Fatal("a program that is not there was started")
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("descriptors cannot be listed")
	}
	return len(entries)
}

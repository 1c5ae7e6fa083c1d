// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestConcurrentRunDirs makes and removes the directories of runs of one component at the same time. Nobody loses files to others, and nothing is left.
func TestConcurrentRunDirs(t *testing.T) {
	session := &Session{runsDir: t.TempDir()}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := useRunDir(session); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(session.runsDir); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func useRunDir(session *Session) error {
	dir, err := session.newRunDir("component.x")
	if err != nil {
		return err
	}
	for i := range 5 {
		if err := os.WriteFile(dir.file(fmt.Sprint(i)), nil, 0o600); err != nil {
			return err
		}
	}
	for i := range 5 {
		if _, err := os.Stat(dir.file(fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return dir.remove()
}

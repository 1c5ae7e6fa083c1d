// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rundir

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestConcurrentRunDirs makes and removes the directories of runs of one component at the same
// time. Nobody loses files to others, and nothing is left.
func TestConcurrentRunDirs(t *testing.T) {
	runsDir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := useRunDir(runsDir); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(runsDir); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func useRunDir(runsDir string) error {
	dir, err := New(runsDir, "component.x")
	if err != nil {
		return err
	}
	for i := range 5 {
		if err := os.WriteFile(dir.File(fmt.Sprint(i)), nil, 0o600); err != nil {
			return err
		}
	}
	for i := range 5 {
		if _, err := os.Stat(dir.File(fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return dir.Remove()
}

func TestRunDirectoriesDontCollide(t *testing.T) {
	seen := map[string]string{}
	for _, address := range []string{
		`component.a["x/y"]`, `component.a["x_y"]`, `component.a["../x"]`, `component.a["` + strings.Repeat("long", 50) + `1"]`,
		`component.a["` + strings.Repeat("long", 50) + `2"]`, `component.a["X_Y"]`,
	} {
		name := Slug(address)
		if other, taken := seen[strings.ToLower(name)]; taken {
			t.Errorf("%s and %s have the same directory %s", address, other, name)
		}
		if strings.ContainsAny(name, "/\\\"[]") || len(name) > 80 {
			t.Errorf("Slug(%q) = %q is not a safe file name", address, name)
		}
		seen[strings.ToLower(name)] = address
	}
}

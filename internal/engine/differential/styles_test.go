// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// TestStyles plans modules for terraform 1.12 and newer, in the styles that public registries show,
// with the native engine where no binary can be found. Records have no calls of providers.
//
// Of modules that need nothing newer, the terraform at hand is asked, too, without their
// constraints on its version.
func TestStyles(t *testing.T) {
	paths, err := filepath.Glob("testdata/styles/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("archives: %d, %v", len(paths), err)
	}
	native := NewNative(t)
	var terraform *Bench
	if os.Getenv(testenv.OracleVariable) != "" {
		terraform = NewTerraform(t)
		terraform.anyVersion = true
	}
	packages := packagesOf(t, testenv.TimeProviderMirror(t), toolcache.Time)
	for _, b := range []*Bench{native, terraform} {
		if b != nil {
			b.packages, b.withoutCalls = append(b.packages, packages...), true
		}
	}
	t.Setenv("PATH", t.TempDir())
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			requireNewer(t, path)
			compare(t, path, native, terraform)
		})
	}
}

// requireNewer checks that the module in an archive is for no terraform before 1.12.
func requireNewer(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := requiredVersion.FindSubmatch(text)
	if found == nil {
		t.Fatal("the module does not say which terraform it is for")
	}
	constraint, err := version.NewConstraint(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	if constraint.Check(version.Must(version.NewVersion("1.11.999"))) {
		t.Errorf("%s allows terraform 1.11", found[1])
	}
}

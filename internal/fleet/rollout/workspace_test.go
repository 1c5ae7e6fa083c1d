// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"os"
	"path/filepath"
	"testing"
)

// A root module is not worked on in a workspace that only happens to be selected.
func TestOtherWorkspace(t *testing.T) {
	backend := func(kind string) string { return `{"backend": {"type": "` + kind + `"}}` }
	for name, test := range map[string]struct {
		files map[string]string
		unit  Unit
		other *Unit // in the same directory
		want  string
	}{
		"nothing":       {},
		"default":       {files: map[string]string{".terraform/environment": "default"}},
		"other":         {files: map[string]string{".terraform/environment": "green\n"}, want: "green"},
		"own":           {files: map[string]string{".terraform/environment": "green"}, unit: Unit{Workspace: "blue"}},
		"of a neighbor": {files: map[string]string{".terraform/environment": "green"}, other: &Unit{Workspace: "green"}},
		"stack":         {files: map[string]string{".terraform/environment": "green"}, unit: Unit{Kind: Components}},
		"by a variable": {files: map[string]string{".terraform/environment": "green"}, unit: Unit{Env: []string{"TF_WORKSPACE=green"}}},
		"in a bucket": {
			files: map[string]string{".terraform/environment": "green", ".terraform/terraform.tfstate": backend("s3")},
			want:  "green",
		},
		"in a cloud":   {files: map[string]string{".terraform/environment": "green", ".terraform/terraform.tfstate": backend("cloud")}},
		"remote":       {files: map[string]string{".terraform/environment": "green", ".terraform/terraform.tfstate": backend("remote")}},
		"not readable": {files: map[string]string{".terraform/environment": "green", ".terraform/terraform.tfstate": "{"}},
		"elsewhere": {
			files: map[string]string{"data/environment": "green"},
			unit:  Unit{Env: []string{"TF_DATA_DIR=other", "TF_DATA_DIR=data"}},
			want:  "green",
		},
		"not in elsewhere": {files: map[string]string{".terraform/environment": "green"}, unit: Unit{Env: []string{"TF_DATA_DIR=data"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TF_WORKSPACE", "")
			t.Setenv("TF_DATA_DIR", "")
			u := test.unit
			u.Dir = t.TempDir()
			if u.Kind == "" {
				u.Kind = Root
			}
			for name, content := range test.files {
				path := filepath.Join(u.Dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := &Work{Steps: []Step{{0, Plan}}, Units: []Unit{u}}
			if test.other != nil {
				test.other.Dir = u.Dir
				w.Units = append(w.Units, *test.other)
			}
			if found, got := w.OtherWorkspace(); got != test.want || (found != nil) != (test.want != "") {
				t.Errorf("%v is in %q, want %q", found, got, test.want)
			}
		})
	}
}

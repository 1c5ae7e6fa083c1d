// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTreeOfCalls looks at calls in a tree by those that call them, as directories, and with a
// stand-in.
func TestTreeOfCalls(t *testing.T) {
	const leaf, other = "module \"leaf\" {\n  source = \"../leaf\"\n}\n", "module \"z\" {\n  source = \"../leaf\"\n}\n"
	tree := mustLoad(t, map[string]string{
		"m/main.tf": "module \"b\" {\n  source = \"../branch\"\n}\nmodule \"a-1\" {\n  source = \"../leaf\"\n}\nmodule \"a\" {\n  source = " +
			"\"../branch\"\n}\n",
		"branch/all.tf": other + leaf,
		"leaf/all.tf":   "output \"o\" {\n  value = 1\n}\n",
	})
	keys := func(nodes []*Node) []string {
		var keys []string
		for _, node := range nodes {
			keys = append(keys, node.Key)
		}
		return keys
	}
	names := func(dirs []*Directory) []string {
		var names []string
		for _, dir := range dirs {
			names = append(names, filepath.Base(dir.Dir))
		}
		return names
	}

	got := map[string][]string{}
	for _, node := range append([]*Node{tree.Root}, tree.Nodes...) {
		for _, name := range slices.Sorted(maps.Keys(node.Children)) {
			got[node.Key] = append(got[node.Key], node.Children[name].Key)
		}
	}
	want := map[string][]string{"": {"a", "a-1", "b"}, "a": {"a.leaf", "a.z"}, "b": {"b.leaf", "b.z"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Children (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"branch", "leaf"}, names(tree.Called())); diff != "" {
		t.Errorf("Called (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m", "branch", "leaf"}, names(tree.Directories())); diff != "" {
		t.Errorf("Directories (-want +got):\n%s", diff)
	}

	var branch *Directory
	for _, dir := range tree.Called() {
		if filepath.Base(dir.Dir) == "branch" {
			branch = dir
		}
	}
	cut := tree.StandIn(map[*Directory]bool{branch: true})
	var standIns []string
	for _, standIn := range cut.StandIns {
		standIns = append(standIns, standIn.Key)
	}
	if diff := cmp.Diff([][]string{{"a-1"}, {"a", "b"}}, [][]string{keys(cut.Nodes), standIns}); diff != "" {
		t.Errorf("StandIn: calls left, stand-ins (-want +got):\n%s", diff)
	}
}

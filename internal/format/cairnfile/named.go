// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/glob"
)

// Named returns the directories that rules of the workspace file in a root name, each as a target
// that its block waits for. One that is not there any more is no mistake in the file. A file with
// mistakes names none.
func Named(root string) []fleet.NamedDir {
	model, diags := Load(root)
	if diags.HasErrors() {
		return nil
	}
	var named []fleet.NamedDir
	for _, block := range model.Blocks {
		for _, rule := range block.Rules {
			for _, ref := range rule.Refs {
				isPath := strings.HasPrefix(ref.Text, ".") || strings.HasPrefix(ref.Text, "/") && !strings.HasSuffix(ref.Text, "/")
				dir, ok := inside(ref.Text)
				if rule.Inverse || !isPath || !ok || glob.HasMeta(dir) {
					continue
				}
				named = append(named, fleet.NamedDir{Dir: dir, By: block.Name, Text: fmt.Sprintf("%s = [%q]", rule.Name, ref.Text), Range: ref.Range})
			}
		}
	}
	return named
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// readGenerated returns the resource blocks that the process has generated.
func (p *planning) readGenerated() ([]engine.Generated, error) {
	text, err := os.ReadFile(p.dir.File(rundir.GeneratedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the generated configuration: %w", err)
	}
	file, diags := safehcl.ParseConfig(text, rundir.GeneratedFile, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("reading the generated configuration: %w", diags)
	}
	var blocks []engine.Generated
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "resource" || len(block.Labels) != 2 {
			continue
		}
		blocks = append(blocks, engine.Generated{
			ModuleDir: p.req.ModuleDir,
			Addr:      stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: block.Labels[0], Name: block.Labels[1]}},
			Text:      string(block.Range().SliceBytes(text)) + "\n",
		})
	}
	slices.SortFunc(blocks, func(a, b engine.Generated) int { return a.Addr.Compare(b.Addr) })
	return blocks, nil
}

// withGenerated adds the generated blocks to a result, of which there is none after errors.
func (p *planning) withGenerated(result *engine.PlanResult) *engine.PlanResult {
	if len(p.generated) == 0 {
		return result
	}
	if result == nil {
		result = &engine.PlanResult{}
	}
	result.Generated = p.generated
	return result
}

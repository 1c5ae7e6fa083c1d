// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// generate returns blocks for the objects that a module imports and has no blocks for. Warnings are
// left to the plan with these blocks, which imports the objects once more.
func (s *Session) generate(ctx context.Context, l *loaded, req *engine.PlanRequest) (_ []engine.Generated, diags hcl.Diagnostics) {
	p, diags := s.begin(ctx, l, req, s.validateFor(ctx, l, true))
	defer func() { diags = append(diags, p.close()...) }()
	if diags.HasErrors() {
		return nil, diags
	}
	generated, diags := planning.Generate(ctx, &p.Request)
	return generated, p.secrets.Diagnostics(diags, nil)
}

// with returns the modules with the blocks in a file of the root module.
func (s *Session) with(l *loaded, generated []engine.Generated) *loaded {
	var text bytes.Buffer
	for i, block := range generated {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(block.Text)
	}
	return read(s.modules.With(unused(l.tree.Dir), text.Bytes()), l.tree.Dir)
}

// unused returns a path for a file with generated blocks in a directory.
func unused(dir string) string {
	path := filepath.Join(dir, "generated.tf")
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = filepath.Join(dir, fmt.Sprintf("generated_%d.tf", i))
	}
}

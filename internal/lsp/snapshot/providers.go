// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"context"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// checkProviders is how often it is looked for schemas, which operations in other processes may have found out.
const checkProviders = 5 * time.Second

// providers has what is known of the providers of a stack.
type providers struct {
	now     func() map[stackaddrs.Provider]*engines.Kept
	checked time.Time
}

// current returns what is known now. It is looked for when it is first asked for.
func (p *providers) current(opened *operation.Stack) func() map[stackaddrs.Provider]*engines.Kept {
	if p.now == nil || time.Since(p.checked) > checkProviders {
		p.checked = time.Now()
		p.now = sync.OnceValue(func() map[stackaddrs.Provider]*engines.Kept {
			return opened.KeptSchemas(context.Background())
		})
	}
	return p.now
}

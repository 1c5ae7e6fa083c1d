// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"context"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// checkProviders is the interval for looking for schemas and packages, which operations in other
// processes may have fetched or installed.
const checkProviders = 5 * time.Second

// providers has the knowledge about the providers of a stack.
type providers struct {
	now     *knownProviders
	checked time.Time
}

// knownProviders is the knowledge about providers at one moment. Each part is looked for when it is
// first asked for.
type knownProviders struct {
	schemas func() map[stackaddrs.Provider]*engines.Kept
	atHand  func() []requirements.Known
}

// current returns the current knowledge.
func (p *providers) current(opened *operation.Stack) *knownProviders {
	if p.now == nil || time.Since(p.checked) > checkProviders {
		p.checked = time.Now()
		p.now = &knownProviders{
			schemas: sync.OnceValue(func() map[stackaddrs.Provider]*engines.Kept {
				return opened.Engines().KeptSchemas(context.Background())
			}),
			atHand: sync.OnceValue(func() []requirements.Known { return opened.Providers().Known(context.Background()) }),
		}
	}
	return p.now
}

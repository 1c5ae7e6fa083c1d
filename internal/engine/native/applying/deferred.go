// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// deferred returns what stands for an object whose change is deferred.
func (a *applier) deferred(addr stackaddrs.ResourceInstance) (cty.Value, bool) {
	if len(a.Plan.Deferred) == 0 {
		return cty.NilVal, false
	}
	for _, c := range a.Plan.Changes {
		if c.Deferred != "" && c.Addr == addr {
			return c.After, true
		}
	}
	if a.now.Object(addr, "") != nil {
		return cty.NilVal, false
	}
	block := resource.ConfigAddr(addr)
	for _, deferred := range a.Plan.Deferred {
		if deferred == block {
			return cty.DynamicVal, true
		}
	}
	return cty.NilVal, false
}

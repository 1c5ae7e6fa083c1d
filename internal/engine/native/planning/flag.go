// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import "sync/atomic"

// flag is set by any of several tasks.
type flag struct{ atomic.Bool }

func (f *flag) unless(ok bool) {
	if !ok {
		f.Store(true)
	}
}

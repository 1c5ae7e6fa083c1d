// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package session

import "github.com/cairnstacks/cairn/internal/views/live"

// stoppable does nothing here: nothing stops processes.
func stoppable(*live.Display) (end func()) { return func() {} }

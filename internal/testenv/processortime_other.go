// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package testenv

import "time"

// processorTime is not known.
func processorTime() time.Duration { return 0 }

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package postgres

import (
	"context"
	"syscall"
)

// limitUnanswered leaves it to the system when a connection without answers is given up.
func limitUnanswered(context.Context, string, string, syscall.RawConn) error { return nil }

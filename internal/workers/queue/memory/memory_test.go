// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memory_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/memory"
	"github.com/cairnstacks/cairn/internal/workers/queue/queuetest"
)

func TestContract(t *testing.T) {
	q := &memory.Queue{}
	queuetest.Run(t, func(testing.TB) queue.Queue { return q })
}

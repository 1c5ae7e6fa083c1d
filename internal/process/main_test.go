// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package process

import (
	"os"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.ResetSignals()
	os.Exit(m.Run())
}

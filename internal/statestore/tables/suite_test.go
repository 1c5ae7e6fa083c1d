// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

func TestMain(m *testing.M) {
	storetest.Main(m, open, map[string]storetest.ChildRole{"readonly": childReadOnly, "reserve": childReserve})
}

func open(location string) (statestore.Store, error) {
	return Open(location, nil, statestore.Options{})
}

func openStore(t *testing.T, location string) statestore.Store {
	t.Helper()
	return storetest.OpenWith(t, open, location)
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, open, func(t *testing.T) string { return "sqlite://" + t.TempDir() + "/cairn.state.db" })
}

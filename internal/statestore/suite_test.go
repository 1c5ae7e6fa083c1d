// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import "testing"

func TestMain(m *testing.M) {
	runMain(m, open, map[string]ChildRole{"readonly": childReadOnly, "reserve": childReserve})
}

func open(location string) (Store, error) { return Open(location, nil, Options{}) }

func openStore(t *testing.T, location string) Store {
	t.Helper()
	return openWith(t, open, location)
}

func TestSQLite(t *testing.T) {
	testStore(t, open, func(t *testing.T) string { return "sqlite://" + t.TempDir() + "/cairn.state.db" })
}

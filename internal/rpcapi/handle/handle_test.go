// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package handle_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
)

type (
	bundle string
	config string
)

func TestTable(t *testing.T) {
	var table handle.Table
	b := handle.Open(&table, bundle("b"))
	c := handle.Open(&table, config("c"), b)
	if got, err := handle.Get[bundle](&table, b, "source bundle"); got != "b" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for name, handle := range map[string]func() error{
		"zero":       func() error { _, err := handle.Get[bundle](&table, 0, "source bundle"); return err },
		"unknown":    func() error { _, err := handle.Get[bundle](&table, c+1, "source bundle"); return err },
		"other kind": func() error { _, err := handle.Get[bundle](&table, c, "source bundle"); return err },
		"held":       func() error { _, err := handle.Close[bundle](&table, b, "source bundle"); return err },
	} {
		if err := handle(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: got %v, want InvalidArgument", name, err)
		}
	}
	if _, err := handle.Close[config](&table, c, "stack configuration"); err != nil {
		t.Error(err)
	}
	if _, err := handle.Close[bundle](&table, b, "source bundle"); err != nil {
		t.Errorf("after what held it was closed: %v", err)
	}
	if _, err := handle.Close[bundle](&table, b, "source bundle"); status.Code(err) != codes.InvalidArgument {
		t.Errorf("closed twice: got %v, want InvalidArgument", err)
	}
	if n := table.Len(); n != 0 {
		t.Errorf("%d handles are left", n)
	}
}

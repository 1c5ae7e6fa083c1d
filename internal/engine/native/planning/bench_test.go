// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// wide returns a module with n resources that have nothing to do with each other.
func wide(n int) string {
	var b strings.Builder
	b.WriteString("-- main.tf --\n")
	for i := range n {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = %d\n}\n", i, i)
	}
	return b.String()
}

// many returns a module with one resource of n instances, to all of which another one refers.
func many(n int) string {
	return fmt.Sprintf(`-- main.tf --
resource "terraform_data" "r" {
  for_each = { for p in setproduct(range(100), range(%d)) : "k${p[0]}-${p[1]}" => p }
  input    = each.key
}
resource "terraform_data" "all" {
  input = length(terraform_data.r)
}
`, n/100)
}

// counted is many with numbers for keys.
func counted(n int) string {
	return fmt.Sprintf("-- main.tf --\nresource \"terraform_data\" \"r\" {\n  count = %d\n}\n", n)
}

// chain returns a module with n resources, each of which refers to the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("-- main.tf --\nresource \"terraform_data\" \"r0\" {\n}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = terraform_data.r%d.id\n}\n", i, i-1)
	}
	return b.String()
}

func BenchmarkPlan(b *testing.B) {
	shapes := map[string]func(int) string{"wide": wide, "many": many, "chain": chain}
	for _, size := range []struct {
		shape string
		n     int
	}{{"wide", 1000}, {"wide", 10_000}, {"many", 1000}, {"many", 10_000}, {"chain", 100}, {"chain", 1000}} {
		b.Run(fmt.Sprintf("%s/%d", size.shape, size.n), func(b *testing.B) {
			c := nativetest.New(b, shapes[size.shape](size.n))
			benchmark(b, c, size.n)
		})
	}
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			c := nativetest.New(b, counted(n))
			c.Prior = nativetest.State(b, prior(n))
			benchmark(b, c, n)
		})
	}
}

// prior returns the objects of n instances of a resource.
func prior(n int) []tfstate.Object {
	objects := make([]tfstate.Object, n)
	for i := range objects {
		objects[i] = tfstate.Object{
			Addr: stackaddrs.ResourceInstance{
				Resource: stackaddrs.Resource{Type: "terraform_data", Name: "r"}, Key: stackaddrs.IntKey(int64(i)),
			},
			Provider:   tfstate.ProviderConfig{Provider: stackaddrs.BuiltinProvider.String()}.String(),
			Attributes: fmt.Appendf(nil, `{"id":"%d"}`, i),
		}
	}
	return objects
}

func benchmark(b *testing.B, c *nativetest.Component, n int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		req := c.Request()
		result, _, diags := planning.Plan(b.Context(), req)
		if diags.HasErrors() || len(result.Changes) < n {
			b.Fatalf("Plan: %d changes, diagnostics %v", len(result.Changes), diags)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/object")
}

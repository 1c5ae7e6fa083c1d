// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/testenv"
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
  for_each = { for n in flatten([for h in range(ceil(%[1]d / 1000)) : range(h * 1000, min(%[1]d, (h + 1) * 1000))]) : "k${n}" => n }
  input    = each.key
}
resource "terraform_data" "all" {
  input = length(terraform_data.r)
}
`, n)
}

// keyed is many with a set for its keys, as most modules have it.
func keyed(n int) string {
	return fmt.Sprintf(`-- main.tf --
resource "terraform_data" "r" {
  for_each = toset([for n in flatten([for h in range(ceil(%[1]d / 1000)) : range(h * 1000, min(%[1]d, (h + 1) * 1000))]) : "k${n}"])
  input    = each.key
}
`, n)
}

// product returns a module with one resource of n instances, which a product of two collections
// makes.
func product(n int, collection string) string {
	first := min(n/10, 1000) // a range has no more than 1024
	return fmt.Sprintf(`-- main.tf --
resource "terraform_data" "r" {
  for_each = { for pair in setproduct(%[3]s(range(%[1]d)), %[3]s(range(%[2]d))) : "${pair[0]}-${pair[1]}" => pair }
  input    = each.value[0]
}
`, first, n/first, collection)
}

// deep returns a module that calls another one, and so on, n in all, with a resource each.
func deep(n int) string {
	var b strings.Builder
	b.WriteString("-- main.tf --\nmodule \"m\" {\n  source = \"./d1\"\n}\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "-- d%d/main.tf --\nresource \"terraform_data\" \"r\" {\n}\n", i)
		if i < n {
			fmt.Fprintf(&b, "module \"m\" {\n  source = \"../d%d\"\n}\n", i+1)
		}
	}
	return b.String()
}

// called returns a module that calls others side by side, each of which calls as many as it has, if
// any, with a resource in each of the last.
func called(n, each int) string {
	var b strings.Builder
	calls := func(n int, source string) {
		for i := range n {
			fmt.Fprintf(&b, "module \"m%d\" {\n  source = %q\n}\n", i, source)
		}
	}
	b.WriteString("-- main.tf --\n")
	if each == 0 {
		calls(n, "./leaf")
	} else {
		calls(n, "./branch")
		b.WriteString("-- branch/main.tf --\n")
		calls(each, "../leaf")
	}
	b.WriteString("-- leaf/main.tf --\nresource \"terraform_data\" \"r\" {\n}\n")
	return b.String()
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

// BenchmarkGrowth shows that the cost of an object is the same however many there are in a module,
// however deep they depend on each other.
func BenchmarkGrowth(b *testing.B) {
	sizes := []int{10, 100, 1000, 10_000}
	for _, shape := range []struct {
		name   string
		module func(n int) string
	}{{"wide", wide}, {"many", many}, {"chain", chain}} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("Plan/%s/%d", shape.name, n), func(b *testing.B) {
				c := nativetest.New(b, shape.module(n))
				testenv.Measure(b, n, func() { plan(b, c, n) })
			})
			if shape.name == "chain" && n > 1000 {
				continue // the state lists all that each object depends on, as terraform's does: 1.2 GB for 10 000
			}
			b.Run(fmt.Sprintf("Apply/%s/%d", shape.name, n), func(b *testing.B) {
				c := nativetest.New(b, shape.module(n))
				plan := c.Plan(b, nil)
				testenv.Measure(b, n, func() {
					result, diags := applying.Apply(b.Context(), c.ApplyRequest(plan))
					if diags.HasErrors() || len(result.State) == 0 {
						b.Fatal(diags)
					}
				})
			})
		}
	}
	for _, n := range append(sizes, 100_000) {
		b.Run(fmt.Sprintf("Plan/keyed/%d", n), func(b *testing.B) {
			c := nativetest.New(b, keyed(n))
			testenv.Measure(b, n, func() { plan(b, c, n) })
		})
	}
	for _, collection := range []string{"tolist", "toset"} {
		for _, n := range append(sizes, 100_000) {
			b.Run(fmt.Sprintf("Plan/product/%s/%d", collection, n), func(b *testing.B) {
				c := nativetest.New(b, product(n, collection))
				testenv.Measure(b, n, func() { plan(b, c, n) })
			})
		}
	}
	for _, n := range []int{10, 100, 1000} { // addresses are as long as their modules are deep
		b.Run(fmt.Sprintf("Plan/deep/%d", n), func(b *testing.B) {
			c := nativetest.New(b, deep(n))
			testenv.Measure(b, n, func() { plan(b, c, n) })
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("Plan/calls/%d", n), func(b *testing.B) {
			c := nativetest.New(b, called(n, 0))
			testenv.Measure(b, n, func() { plan(b, c, n) })
		})
	}
	for _, n := range []int{10, 30, 100} {
		b.Run(fmt.Sprintf("Plan/tree/%d", n*n), func(b *testing.B) {
			c := nativetest.New(b, called(n, n))
			testenv.Measure(b, n*n, func() { plan(b, c, n*n) })
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("Plan/unchanged/%d", n), func(b *testing.B) {
			c := nativetest.New(b, counted(n))
			c.Prior = nativetest.State(b, prior(n))
			testenv.Measure(b, n, func() { plan(b, c, n) })
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

func plan(b *testing.B, c *nativetest.Component, n int) {
	b.Helper()
	result, _, diags := planning.Plan(b.Context(), c.Request())
	if diags.HasErrors() || len(result.Changes) < n {
		b.Fatalf("Plan: %d changes, diagnostics %v", len(result.Changes), diags)
	}
}

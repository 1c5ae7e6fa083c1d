// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// The work on the objects of one resource that changes: proposing, checking the plan, and checking
// the result.
func BenchmarkChange(b *testing.B) {
	flat := builtin.Schema().Managed["terraform_data"].Block
	for _, bench := range []struct {
		name                           string
		block                          *schema.Block
		prior, config, planned, actual cty.Value
	}{
		{
			"flat", flat, object(flat, values{"id": text("i"), "input": text("a"), "output": text("a")}),
			object(flat, values{"input": text("b")}), object(flat, values{"id": text("i"), "input": text("b"), "output": unknown}),
			object(flat, values{"id": text("i"), "input": text("b"), "output": text("b")}),
		},
		{
			"nested", example(), object(example(), all()),
			object(example(), with(all(), values{"id": null, "name": text("m")})), object(example(), with(all(), values{"name": text("m")})),
			object(example(), with(all(), values{"name": text("m")})),
		},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				change.ProposedNew(bench.block, bench.prior, bench.config)
				errs := change.CheckPlanned(bench.block, bench.prior, bench.config, bench.planned)
				errs = append(errs, change.Conform(bench.block, bench.actual)...)
				if errs = append(errs, change.CheckResult(bench.block, bench.planned, bench.actual)...); len(errs) > 0 {
					b.Fatal(texts(errs))
				}
			}
		})
	}
}

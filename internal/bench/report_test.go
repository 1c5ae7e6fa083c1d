// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	table := newTable("stack", "µs", "peak MB")
	table.row("wide", "7", "–")
	table.row("chain 300", "12.5", megabytes(1_234_000_000))
	want := `| stack     |   µs | peak MB |
| --------- | ---: | ------: |
| wide      |    7 |       – |
| chain 300 | 12.5 |    1234 |`
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 9, 2}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

func TestMetric(t *testing.T) {
	output := []byte(`goos: linux
BenchmarkPlan/wide/100-2   57   8169095 ns/op   81.69 µs/component   2508206 B/op   36212 allocs/op
BenchmarkPlan/wide/100-2   60   8000000 ns/op   80.00 µs/component   2508208 B/op   36212 allocs/op
BenchmarkPlan/wide/100-2   61   7900000 ns/op   79.00 µs/component   2508204 B/op   36212 allocs/op
PASS
`)
	got, err := metric(output, "B/op")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{2508206, 2508208, 2508204}, got); diff != "" {
		t.Errorf("metric (-want +got):\n%s", diff)
	}
	if _, err := metric(output, "MB/s"); err == nil {
		t.Error("metric of a unit that is not there: no error")
	}
}

func TestUpdate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	begin, beginOther := beginMarker(""), beginMarker("other")
	if err := os.WriteFile(file, []byte("Before.\n"+beginOther+"other\n"+endMarker+begin+"old\n"+endMarker+"After.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &report{"", []string{"new"}}
	for range 2 { // it can be repeated
		if err := r.update(file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "Before.\n" + beginOther + "other\n" + endMarker + begin + "\nnew\n\n" + endMarker + "After.\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(file, []byte("no markers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.update(file); err == nil {
		t.Error("update of a document without markers: no error")
	}
}

func TestCosts(t *testing.T) {
	got, err := parseCosts([]byte(`goos: linux
BenchmarkLoad/patterns/all_changed/100-2   57   8169095 ns/op   2.5 cpu-ms/op   25000 cpu-ns/item   7.0 peak-heap-MB   2508206 B/op
BenchmarkLoad/patterns/all_changed/100-2   57   8169095 ns/op   1.5 cpu-ms/op   15000 cpu-ns/item   5.0 peak-heap-MB   2508206 B/op
BenchmarkOrderO07   1   8 ns/op   1 cpu-ms/op   2 cpu-ns/item   3 peak-heap-MB
PASS
`))
	if err != nil {
		t.Fatal(err)
	}
	want := costs{"Load/patterns/all_changed/100": {2, 20000, 6}, "OrderO07": {1, 2, 3}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cost{})); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
	if _, err := parseCosts([]byte("BenchmarkX-2 1 8 ns/op\n")); err == nil {
		t.Error("a benchmark without processor time: no error")
	}
	rows := newTable("what", "100", "seconds", "MB")
	if err := got.row(rows, []any{"all"}, "Load/patterns/all_changed", []int{100}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"all", "20", "0.002", "6"}, rows.rows[1]); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if err := got.row(rows, nil, "Load/names", []int{100}); err == nil {
		t.Error("a row of what was not measured: no error")
	}
}

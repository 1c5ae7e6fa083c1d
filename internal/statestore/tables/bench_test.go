// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
)

func benchmarkKey(i int) string { return fmt.Sprintf(`CMPTcomponent.x["%06d"]`, i) }

// eachKind runs a benchmark with an empty store of each kind.
func eachKind(b *testing.B, benchmark func(b *testing.B, newLocation func() string)) {
	b.Run("sqlite", func(b *testing.B) {
		benchmark(b, func() string { return b.TempDir() + "/cairn.state.db" })
	})
	b.Run("postgres", func(b *testing.B) {
		server := postgrestest.Start(b)
		benchmark(b, func() string { return newSchema(server) })
	})
}

// benchmarkStore returns a state with many records of 2 KB, and a writer to it.
func benchmarkStore(b *testing.B, location string, records int) (statestore.Store, statestore.Writer) {
	b.Helper()
	s, err := Open(location, nil, statestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	lock, err := s.Lock(b.Context(), "default", statestore.LockRequest{Operation: "benchmark"})
	if err != nil {
		b.Fatal(err)
	}
	w, err := lock.Begin(b.Context(), statestore.Base{}, "apply", nil)
	if err != nil {
		b.Fatal(err)
	}
	all := map[string][]byte{}
	for i := range records {
		all[benchmarkKey(i)] = bytes.Repeat([]byte{byte(i)}, 2000)
	}
	if err := w.Write(b.Context(), all); err != nil {
		b.Fatal(err)
	}
	if w, err = lock.Begin(b.Context(), w.Base(), "apply", nil); err != nil {
		b.Fatal(err)
	}
	return s, w
}

func BenchmarkWriteOne(b *testing.B) {
	eachKind(b, func(b *testing.B, newLocation func() string) {
		for _, records := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprint(records), func(b *testing.B) {
				_, w := benchmarkStore(b, newLocation(), records)
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					value := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 1000)
					if err := w.Write(b.Context(), map[string][]byte{benchmarkKey(i % records): value}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

func BenchmarkWriteFromTenGoroutines(b *testing.B) {
	eachKind(b, func(b *testing.B, newLocation func() string) {
		_, w := benchmarkStore(b, newLocation(), 10_000)
		b.SetParallelism(max(1, 10/runtime.GOMAXPROCS(0)))
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				value := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 1000)
				if err := w.Write(b.Context(), map[string][]byte{benchmarkKey(i % 10_000): value}); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkWriteAll(b *testing.B) {
	eachKind(b, func(b *testing.B, newLocation func() string) {
		_, w := benchmarkStore(b, newLocation(), 10_000)
		i := 0
		for b.Loop() {
			i++
			all := map[string][]byte{}
			for j := range 10_000 {
				all[benchmarkKey(j)] = bytes.Repeat([]byte{byte(i), byte(j)}, 1000)
			}
			if err := w.Write(b.Context(), all); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	eachKind(b, func(b *testing.B, newLocation func() string) {
		for _, records := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprint(records), func(b *testing.B) {
				s, _ := benchmarkStore(b, newLocation(), records)
				b.ReportAllocs()
				for b.Loop() {
					snapshot, err := s.Read(b.Context(), "default")
					if err != nil || len(snapshot.Records) != records {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

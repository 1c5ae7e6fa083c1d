// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"bytes"
	"fmt"
	"testing"
)

func BenchmarkEnvelope(b *testing.B) {
	pool, recipient := newPool(b)
	run := newRun(b)
	from := recipient
	for _, size := range []int{2 << 10, 1 << 20} {
		content := bytes.Repeat([]byte(`{"name":"a value of a component"}`), size/33+1)[:size]
		copy(content, random(b, size/4)) // a part that cannot be compressed
		envelope, err := Seal(place, content, recipient)
		if err != nil {
			b.Fatal(err)
		}
		result, err := pool.SealResult(place, content, run.Public())
		if err != nil {
			b.Fatal(err)
		}
		for name, do := range map[string]func() ([]byte, error){
			"Seal":       func() ([]byte, error) { return Seal(place, content, recipient) },
			"Open":       func() ([]byte, error) { return pool.Open(place, envelope) },
			"SealResult": func() ([]byte, error) { return pool.SealResult(place, content, run.Public()) },
			"OpenResult": func() ([]byte, error) { return run.OpenResult(place, result, from) },
		} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

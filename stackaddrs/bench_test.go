// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import "testing"

func BenchmarkParse(b *testing.B) {
	for name, parse := range map[string]func() error{
		"component": func() error {
			_, err := ParseAbsComponentInstance(`stack.region["eu-1"].component.app["17"]`)
			return err
		},
		"resource": func() error {
			_, err := ParseResourceInstance(`module.net["a"].module.sub.aws_subnet.this[0]`)
			return err
		},
		"escaped": func() error { _, err := ParseResourceInstance(`module.net["a\"b"].aws_subnet.this["x\n"]`); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := parse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkString(b *testing.B) {
	addr, err := ParseResourceInstance(`module.net["a"].module.sub.aws_subnet.this[0]`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = addr.String()
	}
}

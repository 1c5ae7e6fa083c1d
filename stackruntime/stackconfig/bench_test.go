// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"strings"
	"testing"
)

// chainSource is a stack of n components, each with the output of the one before.
func chainSource(n int) string {
	var b strings.Builder
	b.WriteString("required_providers {\n  aws = {\n    source  = \"hashicorp/aws\"\n    version = \"~> 5.0\"\n  }\n}\n\n" +
		"provider \"aws\" \"main\" {}\n")
	b.WriteString("\ncomponent \"c0\" {\n  source = \"../m\"\n}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "\ncomponent \"c%d\" {\n  source = \"../m\"\n  inputs = {\n    name  = \"c%d\"\n    value = component.c%d.value\n"+
			"  }\n  providers = {\n    aws = provider.aws.main\n  }\n  depends_on = [component.c%d]\n}\n", i, i, i-1, i-1)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("components=%d", n), func(b *testing.B) {
			files := inMemory(map[string]string{"/s/main.tfcomponent.hcl": chainSource(n), "/m/main.tf": ""})
			b.ReportAllocs()
			for b.Loop() {
				cfg, diags := load(files, "/s")
				if len(diags) > 0 || len(cfg.Root.Components) != n {
					b.Fatal(details(diags))
				}
			}
		})
	}
}

// BenchmarkLoadEmbedded has one directory that is embedded by many calls.
func BenchmarkLoadEmbedded(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			var src strings.Builder
			for i := range n {
				fmt.Fprintf(&src, "stack \"s%d\" {\n  source = \"../leaf\"\n}\n", i)
			}
			files := inMemory(map[string]string{
				"/s/main.tfcomponent.hcl":    src.String(),
				"/leaf/main.tfcomponent.hcl": chainSource(100),
				"/m/main.tf":                 "",
			})
			b.ReportAllocs()
			for b.Loop() {
				cfg, diags := load(files, "/s")
				if len(diags) > 0 || len(cfg.Root.Children) != n {
					b.Fatal(details(diags))
				}
			}
		})
	}
}

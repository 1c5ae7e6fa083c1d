// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package hclsource parses files of HCL that are untrusted.
//
// Deep nesting is an error, as package safehcl has it, and so is size: a file is not larger than
// [MaxSize], and has not many more than [MaxTokens] tokens, each of which takes a hundred times its
// size in memory.
package hclsource

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// The limits of files. Files that people write are far from each of them.
const (
	MaxSize   = 4 << 20
	MaxTokens = 500_000
)

// Parse is [safehcl.ParseConfig] for untrusted files. The file may be nil with errors.
func Parse(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, hcl.Diagnostics{tooLarge(src, filename)}
	}
	if tokensIn(src) > MaxTokens {
		return nil, hcl.Diagnostics{failure.At(hcl.Range{Filename: filename}, "File too complicated",
			"The file has more than %d words and signs. Write it in smaller pieces.", MaxTokens)}
	}
	return safehcl.ParseConfig(src, filename, hcl.InitialPos)
}

// ParseJSON is [Parse] for files of HCL's JSON syntax, of which only the size is bounded.
func ParseJSON(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, hcl.Diagnostics{tooLarge(src, filename)}
	}
	return safehcl.ParseJSON(src, filename)
}

func tooLarge(src []byte, filename string) *hcl.Diagnostic {
	return failure.At(hcl.Range{Filename: filename}, "File too large",
		"The file has %d bytes; cairn reads files of at most %d. Is it the right one?", len(src), MaxSize)
}

// tokensIn estimates how many tokens there are, from above: each word and each other character
// outside of words counts, but space.
func tokensIn(src []byte) int {
	tokens, inWord := 0, false
	for _, char := range src {
		isWord := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '_' || char >= 0x80
		if isWord != inWord && isWord || !isWord && char != ' ' && char != '\t' {
			tokens++
		}
		inWord = isWord
	}
	return tokens
}

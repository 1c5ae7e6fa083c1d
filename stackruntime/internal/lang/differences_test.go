// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

const (
	decidedSooner = "an element that decides the result does so even after an unknown one, as in anytrue"
	bracePaths    = "newer glob library: alternatives in braces may contain slashes"
	formatNull    = "newer cty: terraform 1.11 gives an unknown that never becomes known"
	formatType    = "newer cty: the type of the result is known before its value"
	unknownSearch = "terraform 1.11 takes an unknown key for a known one, and would change its mind in apply"
	neverNull     = "the result is known not to be null before it is known"
)

// differences are the expressions of the corpus for which we do something else than terraform 1.11,
// with the reason.
var differences = map[string]string{
	`alltrue([local.bool, false])`:                      decidedSooner,
	`alltrue([local.bool, null])`:                       decidedSooner,
	`fileset(".", "{hello.txt,sub/one.txt}")`:           bracePaths,
	`format("%s=%d", null, 1)`:                          formatNull,
	`format("%s=%d", "a", null)`:                        formatNull,
	`format("%s", null)`:                                formatNull,
	`format("%v", null)`:                                formatNull,
	`format("%s=%d", local.any, 1)`:                     formatType,
	`format("%s=%d", local.any, 1) == null`:             formatType,
	`format("%s=%d", "a", local.any)`:                   formatType,
	`format("%s=%d", "a", local.any) == null`:           formatType,
	`format("%v", local.any)`:                           formatType,
	`formatlist("%s-%s", null, "x")`:                    formatNull,
	`formatlist("%s-%s", ["a","b"], null)`:              formatNull,
	`formatlist("%s", null)`:                            formatNull,
	`formatlist("%s-%s", local.any, "x")`:               formatType,
	`formatlist("%s-%s", local.any, "x") == null`:       formatType,
	`formatlist("%s-%s", ["a","b"], local.any)`:         formatType,
	`formatlist("%s-%s", ["a","b"], local.any) == null`: formatType,
	`formatlist("%s", local.any)`:                       formatType,
	`matchkeys(["a"], ["x"], [local.str])`:              unknownSearch,
	`strcontains(local.any, "ll") == null`:              neverNull,
	`strcontains("hello", local.any) == null`:           neverNull,
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

const (
	decidedSooner = "an element that decides the result does so even after an unknown one, as in anytrue"
	fromTheEnd    = "newer cty: negative positions count from the end, as in terraform 1.12"
	bracePaths    = "newer glob library: alternatives in braces may contain slashes"
	formatNull    = "newer cty: terraform 1.11 gives an unknown that never becomes known"
	typeKnown     = "newer cty: the type of the result is known before its value"
	unknownSearch = "terraform 1.11 takes an unknown key for a known one, and would change its mind in apply"
	marksKept     = "marks of arguments are kept when another argument is unknown"
	nullFound     = "newer terraform: null is an element to look for, as any other"
	neverNull     = "the result is known not to be null before it is known"
	oneSide       = "newer hcl: one side of && or || decides, as in terraform 1.12, though the other is unknown, is null or fails"
)

// differences are the expressions of the corpus for which we do something else than terraform 1.11,
// with the reason.
var differences = map[string]string{
	`alltrue([local.bool, false])`:                                       decidedSooner,
	`alltrue([local.bool, null])`:                                        decidedSooner,
	`fileset(".", "{hello.txt,sub/one.txt}")`:                            bracePaths,
	`format("%s=%d", null, 1)`:                                           formatNull,
	`format("%s=%d", "a", null)`:                                         formatNull,
	`format("%s", null)`:                                                 formatNull,
	`format("%v", null)`:                                                 formatNull,
	`format("%s=%d", local.any, 1)`:                                      typeKnown,
	`format("%s=%d", local.any, 1) == null`:                              typeKnown,
	`format("%s=%d", "a", local.any)`:                                    typeKnown,
	`format("%s=%d", "a", local.any) == null`:                            typeKnown,
	`format("%v", local.any)`:                                            typeKnown,
	`formatlist("%s-%s", null, "x")`:                                     formatNull,
	`formatlist("%s-%s", ["a","b"], null)`:                               formatNull,
	`formatlist("%s", null)`:                                             formatNull,
	`formatlist("%s-%s", local.any, "x")`:                                typeKnown,
	`formatlist("%s-%s", local.any, "x") == null`:                        typeKnown,
	`formatlist("%s-%s", ["a","b"], local.any)`:                          typeKnown,
	`formatlist("%s-%s", ["a","b"], local.any) == null`:                  typeKnown,
	`formatlist("%s", local.any)`:                                        typeKnown,
	`matchkeys(["a"], ["x"], [local.str])`:                               unknownSearch,
	`issensitive(zipmap(sensitive(["a","b"]), local.strlist))`:           marksKept,
	`issensitive(zipmap(["a","b"], sensitive(local.strlist)))`:           marksKept,
	`element(["a","b"], -1)`:                                             fromTheEnd,
	`templatestring(local.template, local.any)`:                          typeKnown,
	`templatestring(local.template, local.any) == null`:                  typeKnown,
	`zipmap(sensitive(["a","b"]), local.strlist)`:                        marksKept,
	`zipmap(["a","b"], sensitive(local.strlist))`:                        marksKept,
	`matchkeys(["i1","i2","i3"], ["w","e","w"], [local.any])`:            unknownSearch,
	`matchkeys(["i1","i2","i3"], ["w","e","w"], ["x", local.str])`:       unknownSearch,
	`matchkeys(["i1","i2","i3"], ["w","e","w"], [sensitive(local.str)])`: unknownSearch,
	`strcontains(local.any, "ll")`:                                       neverNull,
	`strcontains(local.str, "ll")`:                                       neverNull,
	`strcontains("hello", local.any)`:                                    neverNull,
	`strcontains("hello", local.str)`:                                    neverNull,
	`strcontains(local.prefix, "pre")`:                                   neverNull,
	`strcontains(local.str, "")`:                                         neverNull,
	`strcontains(local.any, "ll") == null`:                               neverNull,
	`strcontains("hello", local.any) == null`:                            neverNull,
	`contains(["a","b"], sensitive(local.null))`:                         nullFound,
	`contains(["a","b"], null)`:                                          nullFound,
	`contains(["a","b"], local.null)`:                                    nullFound,
	`contains(["a","b"], tonumber(null))`:                                nullFound,
	`contains(local.list, null)`:                                         nullFound,
	`contains(["a"], null)`:                                              nullFound,
	`contains(["a", null], local.null)`:                                  nullFound,
	`contains([local.null], local.null)`:                                 nullFound,
	`contains([null], null)`:                                             nullFound,
	`null && true`:                                                       oneSide,
	`true || null`:                                                       oneSide,
	`false && null`:                                                      oneSide,
	`true || local.bool`:                                                 oneSide,
	`local.bool || true`:                                                 oneSide,
	`false && local.bool`:                                                oneSide,
	`local.bool && false`:                                                oneSide,
	`local.any && false`:                                                 oneSide,
	`local.any || true`:                                                  oneSide,
	`true || tonumber("x") == 1`:                                         oneSide,
	`false && tonumber("x") == 1`:                                        oneSide,
	`tonumber("x") == 1 || true`:                                         oneSide,
	`local.bool || tonumber("x") == 1`:                                   oneSide,
	`length([]) > 0 && [][0] == 1`:                                       oneSide,
	`local.null != null && length(local.null) > 0`:                       oneSide,
	`local.null == null || length(local.null) > 0`:                       oneSide,
	`sensitive(false) && local.bool`:                                     oneSide,
	`sensitive(true) || local.bool`:                                      oneSide,
	`true || sensitive(local.bool)`:                                      oneSide,
	`false && sensitive(local.bool)`:                                     oneSide,
	`local.bool && sensitive(false)`:                                     oneSide,
}

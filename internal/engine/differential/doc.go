// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package differential compares the native engine with terraform, on cases that are archives in
// testdata: the files of a module, steps, and terraform's answers. Both engines are asked through
// their contract, so that the comparison covers the results that stacks see, and the calls that the
// fake provider gets.
//
// Answers of terraform are recorded, so that most tests need no terraform: [Case.Want] changes only
// when terraform is asked again. A case whose difference is meant has both answers and the reason;
// a case that no released terraform can answer is written by hand, and says so.
//
// # Archives
//
// The comment of an archive describes the case. A line in it that begins with "differs: " is the
// reason of a difference, and one that begins with "by hand: " the reason why terraform cannot be
// asked. These files are not files of the module:
//
//   - steps: the steps, one a line, see [Step];
//   - inputs: the values of input variables, as arguments whose expressions may call
//     unknown("TYPE") and sensitive(VALUE); inputs.apply: those while applying, where they are
//     others;
//   - prior: the objects of the state before the first step, as package nativetest reads them; or
//     prior.tfstate: that state itself;
//   - want: terraform's answers; want-native: the native engine's answers, where they differ.
//
// A file in a directory with the number of a step takes the place of the one outside of it from
// that step on. An empty one removes that.
//
// Styles are modules for terraform 1.12 and newer as public registries have them, with the fake
// provider in the place of their own. Realistic modules have real providers, those that are Go
// modules: archive and external are not, in any version. Kubernetes has a server in its cluster's
// place.
//
// # Rules
//
//  1. Values that are made up anew in each run do not count: unique identifiers, keys of deposed
//     objects, serial and lineage of a state.
//  2. Calls of the provider are compared without their order, except for applies in steps that say
//     so. Validating and upgrading do not count: how often an engine does that is its own affair.
//  3. Diagnostics are compared by severity, place, resource and summary. Where the native engine
//     has other words, these are in testdata/summaries.txt.
package differential

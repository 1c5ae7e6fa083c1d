// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schedule runs low data: [Run] makes each call after its requisites, and decides by what
// became of these whether it is made.
//
// What a function does is not known here: see [Functions], and package run for those that cairn
// has.
package schedule

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schedule runs low data: [Run] makes each call after its requisites, and decides by their
// outcomes whether it is made.
//
// The effect of a function is not known here: see [Functions], and package run for those that cairn
// has.
package schedule

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planning has what a plan of a stack says besides the plans of its components: which of them it is limited to, and how the values of
// the root change (docs/language.md, section 4.7).
package planning

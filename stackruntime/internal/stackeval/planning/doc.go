// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planning makes the parts of a stack's plan, without the objects that ask for them: the
// plan of a component instance, made of that of an engine; the part of the stack that the plan is
// limited to; and how the values of the root change (docs/language.md, section 4.7).
package planning

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terrateam orders stacks by gates: one may be planned, or applied, only when others are
// applied. It reads the format of Terrateam, .terrateam/config.yml.
//
// A dirspace, a directory with a workspace, belongs to one leaf, a stack with a tag query. Nested
// stacks hold leaves and other nested stacks, and pass their rules on to them. A change consists of
// dirspaces, with reasons; rules and depends_on add others. A dirspace outside of a change does
// nothing and holds nothing back, but passes its gates on.
//
// Everything is an anchor in one graph of package order: the beginning and the end of a stack, and
// for each kind of rule a point at which a stack and everything it names is done. So nothing is
// multiplied out, however many leaves there are on both sides of a rule, and each kind of rule is
// closed on its own.
//
// Line numbers B-… are those of the list of behaviours.
package terrateam

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package layout finds places in a plane for nodes that are in columns, with groups around them and
// edges between them.
//
// The columns are given: they are the waves of an order, so that each edge leads to a column
// further right. The layout has to find the heights. Everything that takes up room is an item: a
// node, a group, which is a box that has its items inside, and a lane, on which the edges from a
// node to several columns further right pass the items in between. Items of a box lie below each
// other where they have a column in common, in an order that sweeps improve: each item is drawn to
// where its neighbours are, those on the left and those on the right in turn, as in the method of
// Sugiyama, Tagawa and Toda (1981). Of all arrangements the one with the shortest edges is taken.
//
// Rules:
//
//	L1. All numbers are integers and nothing depends on the order of maps, so that the result is the
//	    same on every machine.
//	L2. A pass takes time linear in nodes, edges and the columns that items span; the number of
//	    passes is limited.
package layout

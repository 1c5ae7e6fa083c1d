// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package moves gives the objects of a state the addresses that moved blocks say they have now, and
// finds the removed block that an object is covered by.
//
// A [Statement] is a moved block, or the move that a change of a resource between one instance and
// many implies. It holds in every instance of the module that declares it. Statements build on each
// other: an object that one has moved, another may take further.
//
// Rules:
//
//	V1. A statement comes after those that move the module that declares it to where it is, and
//	    after those that lead to where it starts; otherwise before those whose start contains its
//	    start, or is a part of it. If that is not possible, they are a cycle.
//	V2. An end without a key means the whole block, with all instances, if the other end has no
//	    key either. Otherwise it is the one instance without a key, as are all calls on the way to
//	    an end.
//	V3. Nothing is moved to where something is: the move is blocked, and the object stays.
//	V4. Moves are implied for resources, and not for one that a moved block names. So they are for
//	    calls of modules in a directory for tofu, as OpenTofu does it; in others they are not.
//	V5. An object that one removed block has forgotten is not destroyed, even if others that cover
//	    it say so.
//
// Nothing is asked of a provider here: an object whose resource type is another one after a move is
// for the caller to convert.
package moves

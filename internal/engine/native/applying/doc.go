// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package applying carries out the plan of one component.
//
// A plan becomes steps, each of which creates, updates, destroys, forgets or reads one object.
// Function schedule says for which others each of them waits; for the values that its configuration
// refers to, a step waits by itself. Steps that do not wait for one another run at the same time.
//
// Rules:
//
//	A1. Each change is planned again before it is made, now that all values are known, and is
//	    not made unless it refines the planned one.
//	A2. The result of a step is in the state, and was passed on, before any step begins that waits
//	    for it.
//	A3. When a step fails, those that wait for it are left out, and say nothing. All others go
//	    on.
//	A4. After the end of the context no step begins. Requests that providers work on by then come to
//	    their end, and their results are kept.
//
// The order of steps is that of terraform 1.11, which modules rely on. The users of a block are
// those whose objects were stored with a dependency on it:
//
//	O1.  A step that creates or updates an object waits for all such steps of the blocks that its own
//	     block depends on, also by depends_on alone.
//	O2.  So does a step that reads a data source, or opens an ephemeral resource.
//	O3.  A replacement that destroys first creates the new object after it has destroyed the old
//	     one.
//	O4.  A replacement that creates first deposes the old object, creates the new one, and then
//	     destroys the old one.
//	O5.  An object is destroyed after the objects of its users that are destroyed.
//	O6.  A user is created or updated after the objects that it depends on are destroyed.
//	O7.  An object is created or updated after the objects of its users that are destroyed.
//	O8.  Where an object is destroyed last, as in O4, O6 and O7 are turned round for it: it is
//	     destroyed after its users are up to date.
//	O8a. O5 to O7 are not for pairs in different instances of a module call, nor for objects
//	     that stay as they are.
//	O8b. A user that is new has stored nothing: it waits for the steps that destroy objects of the
//	     blocks that it refers to directly.
//	O9.  An object deposed by an earlier run is destroyed after the current object of its
//	     instance is created or updated.
//	O10. An object is forgotten at any time.
package applying

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package records keeps the common data of the machines of a run, as records that are written once.
//
// A record is a name and bytes, of which the store does not know the meaning. Names have parts with
// slashes between them, such as runs/7/component.db/request. Machines leave records for each other
// and find them by their names, or by the beginnings of these; nothing tells them that there is
// one.
//
//	store, err := records.Open(ctx, "s3://bucket/prefix", os.Environ(), nil)
//	err = store.Put(ctx, "runs/7/request", sealed)
//	if errors.Is(err, records.ErrExists) { // somebody else was first
//	}
//
// Rules:
//
//	K1  A record has one content for as long as it is there. Of several that write under one name,
//	    also from different machines and at the same time, one content wins; whoever writes that one
//	    succeeds, and all others get ErrExists.
//	K2  A record that was accepted survives the end of the process and, as far as the place keeps its
//	    promises, of the machines.
//	K3  A request whose answer was lost is made again. If it has stored the record before, that has
//	    the same content, and the call succeeds.
//	K4  A name has parts of 1 to 200 of the characters A-Z, a-z, 0-9 and -_.+=@~%, none of which
//	    begins with a dot, and 512 at most. Other texts are made parts by [net/url.QueryEscape]. No
//	    name is a part of the path of another, and no two differ by case alone: in a directory, both
//	    are one.
//	K5  Reading creates nothing. In PostgreSQL, the table comes with the first record; a directory
//	    and a bucket have to be there.
//	K6  Nobody writes below a prefix while it is removed.
//	K7  Errors name the location without credentials, and the remedy.
//
// Not promised: secrecy, and that a content is from whom it seems, which package envelope is for;
// damage by the place is noticed there, too.
package records

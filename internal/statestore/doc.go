// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package statestore keeps the states of stacks.
//
// A state is a set of records, state key to bytes, that belongs to one deployment of one stack. The
// store does not know the meaning of keys and bytes. An operation that changes a state holds the
// deployment's lock, opens a new serial on top of the one it has read, writes records into it as
// they become known, and commits it:
//
//	lock, err := store.Lock(ctx, "default", statestore.LockRequest{Operation: "apply"})
//	defer lock.Unlock(ctx)
//	snapshot, err := store.Read(ctx, "default")
//	writer, err := lock.Begin(ctx, snapshot.Base(), "apply", nil)
//	err = writer.Write(ctx, map[string][]byte{"CMPTcomponent.db": raw})
//	err = writer.Commit(ctx)
//
// Rules:
//
//	S1  A record that Write has accepted survives the end of the process and,
//	    as far as the operating system keeps its promises, of the machine. It
//	    is part of the current state at once; commit only notes that the
//	    operation reached its end.
//	S2  A serial is opened only on the lineage and serial its writer has read.
//	    Anything else is a [*StaleError] and changes nothing.
//	S3  Of each part of a deployment, one holder of a lock that may change it, or
//	    several that only read it. Every write checks in its own transaction
//	    that the lock is still held, so a process that lost its lock cannot
//	    write any more, and goes into the newest serial: a writer of parts opens
//	    another one where somebody else has done so since.
//	S4  A lock that is in the way of another one is removed only where its
//	    holder is provably dead: same boot of the same machine, same process
//	    numbering, and the process gone. Time alone proves nothing. Where
//	    several machines share a database, a lock has a lease that its holder
//	    renews: once it has ended, by the clock of the database, the lock may be
//	    removed, as the old holder can then write nothing (rule S3).
//	S5  Writing a record costs the same whatever the number of records.
//	S6  Every serial stays readable: a record remembers the serial it appeared
//	    in and the one it was replaced or deleted in.
//	S7  Reading creates nothing. The file comes into being, complete, with the
//	    first lock.
//	S8  A failed call leaves the state as it was before the call.
//	S9  A damaged file is an error and never a smaller, older or different state. Records carry a
//	    checksum. Seals cover everything that is stored of a deployment, its lock, its secret and
//	    each serial, with the set of the serial's records. That nothing is stored is believed after
//	    the whole file was checked, and so is a file before a lock of it is taken. A log must have
//	    all commits that were made to it.
//
// Not promised: protection against someone who edits the file on purpose,
// encryption, and locking over network file systems whose file locks do not
// work.
package statestore

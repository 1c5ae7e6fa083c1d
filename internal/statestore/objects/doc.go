// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package objects keeps states on object storage, or in a directory that several machines mount.
//
// Each deployment has a log. The next entry is created only if nobody has created it, which all
// such services can do in one step; so entries have one order, whoever writes them, and no clock
// has a part in it.
//
// Rules:
//
//	O1  An object is created once, complete, and never changed. Taking a lock, each write, and giving
//	    the lock back are entries, and whoever writes one has read all that are before it. So a
//	    holder that has lost its lock can write nothing (rule S3 of package statestore), and holders
//	    of different parts, who write at the same time, write one after the other.
//	O2  An entry has the hash of the one before, and each object one of itself. The numbers have no
//	    gaps (rule S9 of package statestore).
//	O3  The result of a request whose answer was lost is looked for before it is made again. An entry
//	    has a random name for that.
//	O4  A snapshot is all that the log up to an entry says. It is made now and then by whoever writes,
//	    so that reading takes a bounded number of requests, and can be missing.
//	O5  Names of objects count down, as services list them in alphabetical order: the first page of a
//	    list has the newest.
//	O6  The catalog names the deployments that have serials. It is written before the first entry of
//	    these, so that a log that is gone is noticed.
//	O7  The lease of a lock is an object that its holder writes again and again, and its time that of
//	    the service. It only decides when others may take the lock; rule O1 holds all the same. It
//	    goes with the lock.
//	O8  A write goes into the newest serial. The holder of parts whose serial is not the newest any
//	    more writes an entry that opens another one and says which one that continues. The entries of
//	    a serial are those up to its last while it was the newest; that it was finished can be noted
//	    later.
//
// The layout below the place of a stack, NAME being that of a deployment, and N counting down:
//
//	catalog/N                    the names of the deployments
//	deployments/NAME/N/N-entry   the log, in groups
//	deployments/NAME/N/N-state   snapshots
//	leases/NAME/LOCK             written by the holder of the lock
//	clocks/RANDOM                written and removed again to learn the time of the service
package objects

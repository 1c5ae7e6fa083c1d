// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package journal records the intentions and results of an apply, so that the next program can go
// on from there if this one is killed.
//
// A session has one file, made when there is first something to keep, locked while the session
// lives, and removed with it if all results are safe elsewhere. A line of it is a record in JSON,
// followed by a signature of it and of all lines before: without the secret of the state nobody can
// add to the file, or take away but from its end, which is where padding follows: a file that was
// cut there has none. A last line that is not whole was being written when the program was killed,
// and does not count. Where encryption is demanded, the first record has the wrapped key of the
// others, whose text is encrypted before it is signed.
//
// Rules:
//
//	J1. An intention is on the disk before [Work.Intend] returns, so that a machine that loses
//	    power does not lose it. The object after it is in the file before [Work.Store] returns, so
//	    that a killed process does not lose it: lost with the power, it is in doubt (rule J3).
//	J2. A change of nothing but the state is kept in memory until there is an intention, or until
//	    the session is closed without an acknowledgement.
//	J3. An intention without a result is in doubt.
//	J4. So is all that was done if a file is missing of which the state knows ([Journal.Record]),
//	    or if its content has changed: nothing is believed to be whole because it is short.
//	J5. The record of work that another session does is in the file of the one that has delegated it,
//	    as far as it was reported. Reports are numbered: none is recorded without the one before, and
//	    none twice. An intention is reported before [Work.Intend] returns, and results with the next
//	    one, or a moment later: those that were not are in doubt.
package journal

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package workerstest runs a repository of stacks on workers, brings faults to all programs that
// take part, and counts the remains.
//
// The programs are the real ones, each in a process of its own: Temporal, PostgreSQL or a server of
// object storage, the workers of two pools, and whoever begins runs and attaches to them. The
// objects of the stacks are files of package testprovider, which show the objects that really
// exist. Leases last for seconds here, and minutes otherwise.
//
// Whatever is killed, stopped, cut off or interrupted, these must hold once a run has ended:
//
//   - W1. Nothing is made twice: the existing objects are those of the states, object by object.
//   - W2. Nothing is lost: an object that exists without being in a state was named, by address, in
//     the output of a program of the run. The user then deletes it, and begins a new run, with
//     -accept-recovery where a message asks for that.
//   - W3. A run whose programs are all back comes to its end. One that waits says for whom in
//     "cairn run show".
//   - W4. A run that has failed says why, and the next one succeeds.
//   - W5. A healthy apply is not interrupted because the queue, the records or another program is
//     away.
//   - W6. No value of the stacks is in the clear in the database of the queue, in the records, in
//     logs of workers and the queue, or in files of workers once a call is answered; only the
//     states and the output have what is not sensitive.
//   - W7. Plans and states are those of a run without workers.
//
// Seeds choose the faults and their moments; but how far everything has come by then is up to the
// machine.
package workerstest

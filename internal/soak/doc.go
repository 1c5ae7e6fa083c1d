// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package soak kills cairn, its engines and their providers at random moments, and counts the
// remains; with the engine that runs a binary, and with the native one.
//
// A life is a stack that is applied, changed and destroyed in a directory of its own, by a user who
// runs the same command again after each kill. The objects of the stack are files of package
// testprovider, which show the objects that really exist. When a command comes to its end, these
// must hold:
//
//   - K1. Nothing is made twice: the existing objects are those of the state, object by object.
//   - K2. An object that an engine has recorded as made is in the state, unless it was deleted
//     since.
//   - K3. An object that exists without being in the state was named, by address, in an error or a
//     warning of a command that came to its end and failed. The user then deletes it, and goes on
//     with -accept-recovery where cairn asks for that. Where a journal was lost, because the power
//     was cut, the command says that instead, and the user compares everything.
//   - K4. Signals to end do not kill cairn, once it has begun anything: it comes to its end.
//
// Seeds choose the processes to kill, and the moments; but how far everything has come by then is
// up to the machine.
package soak

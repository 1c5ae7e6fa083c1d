// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package encryption encrypts what is kept on disks and in databases: records of states, plan
// files, journals.
//
// A *root key* is 32 random bytes, of which nothing is kept but copies that are wrapped: by age for
// its recipients, by a passphrase, by a program, by a key service. Each of these is enough to
// unwrap it. A state has a root key, in a ring beside its records; a process has one for the files
// that it writes, each of which has the wrapped copies at its beginning. Records and files are not
// encrypted with the root key, but each with a data key of its own, which is derived from the root
// key and a salt.
//
// Rules:
//
//   - E1. Whatever is encrypted says so at its beginning. It is never taken for something in clear,
//     and something in clear is refused where encryption is demanded.
//   - E2. Damage is not taken for a wrong key. A ring and a file begin with a checksum, so that
//     what passes it and cannot be unwrapped is for another key; the root key is known by an
//     identifier, so that what cannot be decrypted with the right one was changed.
//   - E3. The place is part of what is authenticated: a record of one deployment or name, or a file
//     of one kind, cannot be put in the place of another.
//   - E4. Equal content in the same place, with the same root key, gives equal bytes: a store sees
//     that a record has not changed. The salt is a keyed hash of both, so that different contents
//     have different data keys, and one nonce will do.
//   - E5. No key and no passphrase is in a message.
//
// Not promised: that a state or a file is the newest, against someone who puts an older one with
// its own ring in its place; secrecy of lengths and of numbers of records.
package encryption

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package envelope seals and signs the messages that the machines of a run leave for each other.
//
// A *pool* is a set of workers that share a key pair: its workers hold the [PoolKey], and whoever
// starts runs knows its [PoolRecipient]. Those who start runs share one [RunKey], and workers know
// its [RunPublic]. Everything travels by way of others, who store and deliver it: an *envelope* is
// a content that only a holder of the right key can read, and only under the name that it was
// sealed for, its *place*.
//
//	sealed, err := envelope.Seal("runs/7/request", content, pool)      // who starts a run
//	content, err := poolKey.Open("runs/7/request", sealed)             // a worker
//	sealed, err = poolKey.SealResult("runs/7/result", content, public) // a worker
//	content, err = runKey.OpenResult("runs/7/result", sealed, pool)    // who has started the run
//
// Rules:
//
//   - V1. An envelope is a file of age: each has a file key of its own, which is wrapped for each
//     recipient. The place is hashed into the text that age encrypts and authenticates, with the
//     kind of the envelope, so that neither another place nor another kind is opened.
//   - V2. Anybody who knows a recipient can seal for it. What workers act on is therefore signed,
//     too: the message of [RunKey.Sign] has to say all that they act on, in one encoding for each
//     meaning, and the hash of each envelope among that.
//   - V3. A result can be made and opened only by holders of the pool's key and of the run key.
//     With p and P the private and the public key of the pool, r and R those of the run, and
//     S = X25519(p, R) = X25519(r, P): the file key is wrapped by AES-256-GCM, with a nonce of
//     zeros and a key of its own, HKDF-SHA256(S, salt N, P, R, info "cairn result 1"), where N
//     are 32 random bytes. The stanza of age has the type cairn-result, N, and the SHA-256 of R. So
//     who holds the run key knows that a holder of the pool's key has sealed it; and many results
//     need one X25519 together, which takes longer than all else of a small one.
//   - V4. Both halves of a run key come from one secret by HKDF, each for its purpose. No key of
//     age, of a proof or of a signature is used for anything else: each derivation has a label of
//     its own, and Ed25519 has a context.
//   - V5. Damage is not taken for a wrong key: an envelope begins with a checksum. What passes it
//     and can't be unwrapped is for another key. Who damages on purpose can make a checksum, and
//     gets another error in place of that of damage, but never a content.
//   - V6. The size of a content is bounded while it is unpacked, and nothing is unpacked that was
//     not authenticated before.
//   - V7. No message has a key or a part of a content. Printing a private key shows nothing of it.
//
// Not promised: that a content is the newest or the only one of its place, which is for whoever
// keeps envelopes, as records that are written once; secrecy of sizes, which tell a little of the
// content, as large ones are compressed; secrecy of older messages, once a key is known, of results
// also that of the pool; proof to third parties of who has sent a result.
//
// Sources: the file format of age (age-encryption.org/v1), RFC 5869 (HKDF), RFC 7748 (X25519),
// RFC 8032 (Ed25519ctx), NIST SP 800-38D (GCM), BIP 173 (Bech32).
package envelope

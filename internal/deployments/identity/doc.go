// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package identity gets the tokens of identity_token blocks: short texts, signed by the platform
// that runs an operation or by a key of one's own, which a cloud takes for a login.
//
// Their sources are named in the settings file, since they depend on where the run is and not on
// the stack. There are five kinds: the end point of GitHub Actions, variables of a job of GitLab, a
// file that something else renews, a command, and a key with which this package signs tokens.
// Nothing here knows deployment files: a caller that evaluates these asks for a token by its label
// and its claims.
//
// Rules:
//
//	I1. Nothing is read, run or asked before a token is needed: a command that only checks a
//	    configuration starts no program for it.
//	I2. A token is fetched anew each time, and kept nowhere: not in files, arguments, errors or logs.
//	I3. Tokens that others have made are checked before they are passed on: that they are JWTs, are
//	    for the audiences that were asked for, and have not expired. Whether a signature is right,
//	    only the audience can say.
//	I4. A token that is signed here is for one subject. Names that could be taken for other parts of
//	    a subject, or make it too long to be told apart, are errors: nothing is cut off.
//
// The claims are those of the hosted product, so that trust that was set up for it in a cloud goes
// on working with another issuer.
package identity

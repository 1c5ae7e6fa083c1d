// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package state is the state of one component while it is planned or applied in this process.
//
// A [State] is a state document, by resources and their instances: planning begins with it.
// Planning and applying write objects to a [Working] copy of it, each when it is finished; a
// document is made of it again at the end, or whenever somebody wants to keep it safe.
//
// Values are JSON here, in the form of the provider's schema at the time when they were written:
// bringing them up to date and decoding them is done by asking the provider. [Encode] is the way
// back.
//
// Rules:
//
//	S1. A State and all that it holds is immutable. Both types are safe for concurrent use.
//	S2. There is no resource without objects, and no module instance.
//	S3. Unchanged parts are printed as they were read.
//
// The format is that of package tfstate.
package state

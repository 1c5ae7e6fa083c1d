// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tfstate reads, changes and prints state documents: the JSON documents in version 4 of the
// Terraform state format, in which terraform and tofu keep their record of the infrastructure of
// one module tree.
//
// A [Document] has members that identify the state it is of (lineage, serial), the output values of
// the root module, the results of checks, and the list of resources. Here that list is taken apart
// into its objects, since a state is changed and stored object by object: an [Entry] is one object
// as JSON, with its address; an [Object] is the decoded content of an entry. A [Document] is made
// by [Parse], or by [New] of the parts of another one.
//
// Rules:
//
//   - D1. Content that is not understood here is kept, and unchanged content is printed token by
//     token as it was: numbers, escapes, members of other versions. A document that was not changed
//     at all is printed as the bytes it was parsed from.
//   - D2. Any other document is printed in a form that depends on its content only: without white
//     space, the members of the document and of the resources in a fixed order, the objects sorted
//     by address. Resources without objects are left out.
//   - D3. A document and an entry are immutable and safe for concurrent use. Methods with names
//     that begin with With return another one.
//   - D4. No state at all is an empty document: that of empty text, which prints as none. It is the
//     zero value.
//
// The meaning of an attribute is the provider's to say, and not known here; package stackaddrs has
// the addresses.
package tfstate

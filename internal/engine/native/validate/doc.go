// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package validate finds what is wrong in modules without any input, state or configured provider.
//
// What values will be is not known then: variables of the root module, and the objects of
// resources, are unknown values of their types. Everything is evaluated with these.
//
// Rules:
//
//	V1. A reference must name what the module declares, and of a resource only what its schema has.
//	    That holds inside of try and can, too.
//	V2. Where a reference is wrong, what it is part of is not evaluated, for that would find the same
//	    again.
//	V3. A mistake in a directory that is called several times is reported once.
//	V4. Types of resources that no schema is known of are left alone: that the schema is missing is
//	    reported by who could not get it.
package validate

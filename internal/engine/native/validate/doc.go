// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package validate finds the mistakes in modules without any input, state or configured provider.
//
// Values are not known then: variables of the root module, and the objects of resources, are
// unknown values of their types. Everything is evaluated with these.
//
// Rules:
//
//	V1. A reference must name an object that the module declares, and of a resource only attributes
//	    that its schema has. That holds inside of try and can, too.
//	V2. Where a reference is wrong, the expression around it is not evaluated, for that would find
//	    the same again.
//	V3. A mistake in a directory that is called several times is reported once.
//	V4. Types of resources that no schema is known of are left alone: a missing schema is reported
//	    where it could not be fetched.
package validate

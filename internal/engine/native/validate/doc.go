// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package validate finds the mistakes in modules without any input, state or configured provider.
//
// Everything is evaluated by package eval, in its validating phase, so that a mistake has the same
// words at the same place as while planning. Here are the checks that need no values: of the names
// and keys in addresses, of provider configurations, of provisioners; and the questions to
// providers.
//
// Rules:
//
//	V1. A mistake in a directory that is called several times is reported once.
//	V2. Types of resources that no schema is known of are left alone: a missing schema is reported
//	    where it could not be fetched.
package validate

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package change is the algebra of changes of resource objects: the requests to a provider, and
// whether its answers are possible.
//
// Everything here is a function of values and the schema of their block, and asks nobody. There are
// four objects: prior, which is the one in the state; config, which the configuration says;
// planned, which the provider plans; and actual, which it has made.
//
// Rules:
//
//	C1. Objects are of the type of the block, as [Conform] checks, and not marked. Only
//	    [IgnoreChanges] takes marked ones.
//	C2. Prior is known as a whole.
//	C3. Errors are of type [cty.PathError]. They name attributes and keys, and show no values.
//
// The rules are those of the provider protocol: providers expect to be asked by them, and are
// refused by them.
package change

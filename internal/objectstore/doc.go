// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package objectstore has objects in a bucket of a service, or in a directory that several machines
// mount. Several processes that know nothing of each other may create an object under one name: one
// of them does.
//
// Rules:
//
//	B1  An object is there as a whole or not at all. Once created, it is on a disk.
//	B2  A name is created once, also by requests at the same time: the service or the file system
//	    decides that in one step.
//	B3  A request is made again while the service is away. So the answer that an object exists may
//	    be one to the caller's own request, whose first answer was lost: the caller looks for that.
//	B4  Errors name the location without credentials and other parameters.
package objectstore

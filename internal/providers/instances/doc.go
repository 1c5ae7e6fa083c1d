// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package instances shares configured providers among all the work of a run: starting a process and
// configuring it costs far more than most requests to it.
//
// A caller that needs a provider gets a [Lease] from a [Pool], and gives it back. There is one
// process for each package and configuration that differ, and one for each package without a
// configuration, for functions and for configurations that are not known yet. The provider that is
// built in has no process.
//
// Rules:
//
//	S1. A configuration that is wholly known and not ephemeral is shared with all that have an equal
//	    one, also if parts of it are sensitive. Others are shared only under the same name, in the
//	    same phase, and with the same value.
//	S2. A process is started when it is first needed. One that nobody uses stays until the pool
//	    closes, or until it makes room for another: components of one run come and go, and most
//	    need the configurations of the one before.
//	S3. The limit on processes ends idle ones; it never makes anybody wait. There are more
//	    processes than that only while all are in use.
//	S4. A process that has crashed fails the calls that are under way. The next caller that asks for
//	    the configuration gets a new process; others notice nothing.
//	S5. A provider that refuses a configuration, or cannot be started, is not tried again in the
//	    same phase, nor while anybody uses a provider: all that need it fail in the same way.
//	    Later it is, as the reason may be gone.
//	S6. A process is asked to stop when all its users want that. Nobody gets it after that.
//	S7. A process works in an empty directory, in which no relative name leads to anything, so that
//	    its users cannot share a file by accident. A caller that needs files by relative names asks
//	    for a process in a directory: it is shared for that directory only, and ends with its last
//	    user, since directories come and go.
//	S8. Schemas are read once in a run. They are kept on disk for each package whose content is
//	    known by a hash, and a process is asked for them only if the disk does not have them or
//	    the provider needs to be asked. Nothing depends on the disk: a damaged schema is read
//	    again.
//	S9. A process without a configuration that nobody uses becomes the next configured one of its
//	    package: after validation it goes on with the work. Requests that need no configuration,
//	    and do no harm to one either, can be made to any process.
//	S10. Functions are called in processes without a configuration. A process that exceeds the limit
//	    of a pool on answers is ended, as if it had crashed.
package instances

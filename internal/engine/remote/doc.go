// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package remote is an engine that has some components of a stack planned and applied on other
// machines, by workers, and leaves all else to an engine in this process.
//
// A component goes to the workers of a pool, which the settings choose by its address or by the
// provider configurations that it is given. Each plan, apply or query of it is one call: its
// request and its answer are plain data, which a [Transport] carries. On the other machine, a
// [Server] does the work with a session of its own.
//
// Rules:
//
//	R1. Only planning, applying and querying are done elsewhere. Modules, schemas, functions and types
//	    are described, and providers chosen and locked, in this process. A worker installs the locked
//	    providers, and no other versions.
//	R2. An apply that may have begun is never begun again. Its call has the name of the work, is
//	    recorded here before it is made, and a transport begins a call once at most. Another program
//	    that finds the record takes the call over, without the means to begin it.
//	R3. Before a worker has anything changed, its intention is where neither the end of the worker nor
//	    that of this program loses it: in the transport, which acknowledges reports. A worker whose
//	    report is refused begins nothing more. This program copies the reports into the record of the
//	    local session, which is kept with the state as that of local work is.
//	R4. When a worker is lost, its reports are the result: changes that it has made are in the state,
//	    and those that it had begun are in doubt.
//	R5. Ending a context asks a worker to stop. The call goes on until the worker has answered.
//	R6. The engine of a plan is the one that the worker has. Work goes to workers of the same version
//	    of cairn only: others decline it, and nothing is done.
//	R7. Requests have directories relative to that of the stack. A worker has the same files at the
//	    same places in relation to each other, and no directory has another name for the same content.
//	R8. On a worker, one session does all calls of a session here, so that they share processes of
//	    providers. It is closed when it has been idle for some time.
//
// What passes through a transport has states and inputs in clear, ephemeral values and credentials
// of providers among them. Encryption on the way is the transport's.
//
// A worker that cannot reach its transport any more may go on with what it has begun (R3 keeps it
// from more). Whether such a worker is lost, the transport decides.
package remote

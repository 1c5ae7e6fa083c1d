// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package providers runs provider plugins for the requests of cairn itself: the list of their
// functions, calls of these, and their schemas. The requests of an engine are in package provider
// below, with a client for plugins and the built-in one; other packages below are about the
// publications of providers: releases, lock files, packages.
//
// The processes are those of the provider protocol in versions 5 and 6, over go-plugin. There is
// one process for each provider, started when it is first needed and used until [Pool.Close];
// [ReadSchema] has its own.
//
// Rules:
//
//	R1. A provider is never configured.
//	R2. A process that crashes or does not answer is ended, and the next call starts another.
//	R3. The output of a provider is not shown, as it may hold secrets, but for its last words when it
//	    crashes.
package providers

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package enginelog is the log of engines and providers that users ask for with TF_LOG,
// TF_LOG_CORE, TF_LOG_PROVIDER and TF_LOG_PATH, as they do with terraform: the request, the file
// that the log goes to, and the entries of the native engine and its providers.
//
// Rules:
//
//	E1. Where no log is asked for, there is no [Log], and nothing is paid for it.
//	E2. An entry is written at once to a file that is only appended to, so that entries of several
//	    components and programs never mix.
//	E3. Entries of cairn have names, addresses and durations, never values. Entries of providers are
//	    theirs, and may have secrets in them.
package enginelog

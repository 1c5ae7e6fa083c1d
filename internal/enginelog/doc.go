// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package enginelog is the log of engines and providers that users ask for with TF_LOG,
// TF_LOG_CORE, TF_LOG_PROVIDER and TF_LOG_PATH, as they do with terraform: what is asked for, the
// file that it goes to, and what the native engine and its providers write there.
//
// Rules:
//
//	E1. Where no log is asked for, there is no [Log], and nothing is paid for it.
//	E2. An entry is written at once to a file that is only appended to, so that entries of several
//	    components and programs never mix.
//	E3. Entries of cairn have names, addresses and durations, never values. What providers write is
//	    theirs, and may have secrets in it.
package enginelog

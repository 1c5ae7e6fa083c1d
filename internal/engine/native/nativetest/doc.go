// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package nativetest supports the tests of the native engine: components that are written as
// archives of files, a fake provider with answers set by the test, and plans as text.
package nativetest

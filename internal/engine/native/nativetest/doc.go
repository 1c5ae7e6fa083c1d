// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package nativetest is what tests of the native engine have in common: components that are written
// as archives of files, a fake provider that is told what to answer, and plans as text.
package nativetest

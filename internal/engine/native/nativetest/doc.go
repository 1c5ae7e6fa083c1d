// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package nativetest is the common means of the native engine's tests: components that are written
// as archives of files, a fake provider with answers set by the test, and plans as text.
package nativetest

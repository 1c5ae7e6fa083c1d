// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package access finds out the rights of this process on a file or directory, by its mode and that
// of the file system.
//
// It opens and makes nothing: closing any descriptor of a database file drops the file locks that
// SQLite holds in this process, and files that come and go wake up whoever watches a directory.
package access

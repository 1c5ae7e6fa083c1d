// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package durable

import "os"

func syncData(file *os.File) error { return file.Sync() }

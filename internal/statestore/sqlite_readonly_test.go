// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

func childReadOnly(string) error { return nil }

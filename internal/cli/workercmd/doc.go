// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package workercmd has the commands of workers, which do the work of runs on other machines.
package workercmd

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build race

package testenv

// RaceDetector reports whether this program was compiled with the race detector.
const RaceDetector = true

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package progress shows a person how far an operation is: [Lines] writes one
// line an event, for files and logs; [Live] draws on a terminal, where the lines
// of what is done scroll away above a display of what is running.
//
// Both are fed through their Hooks. What [Live] draws is [Model.Frame], a
// function of what happened, the time and the size of the terminal, and of
// nothing else.
package progress

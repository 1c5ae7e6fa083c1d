// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package progress shows a person the progress of an operation: [Lines] writes one line an event,
// for files and logs; [Live] draws on a terminal, where the lines of finished work scroll away
// above a display of running work.
//
// Both are fed through their Hooks. [Live] draws [Model.Frame], a function of the events so far,
// the time and the size of the terminal, and of nothing else.
package progress

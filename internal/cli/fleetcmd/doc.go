// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package fleetcmd has the commands for many stacks: they list them, show their order, run commands
// in them, and plan and apply them through their gates. The formats that describe stacks answer
// through package fleet.
package fleetcmd

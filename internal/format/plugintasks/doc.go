// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package plugintasks reads the tasks of plugins, which say by a number after their stage when they
// are done: system D of the list of behaviours.
//
// A plugin is a directory with a file tasks.yaml; its name is the name of the directory. A task has
// a stage, such as "post_deployment/100". All tasks of the stage pre_deployment are before those of
// post_deployment; in a stage the lower number is first, no number is 0, and equal numbers are
// ordered by plugin, then as written.
//
// The number is a convention between plugins that do not know each other; [Lint] says where it is
// not kept.
package plugintasks

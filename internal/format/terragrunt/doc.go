// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terragrunt reads the order from files terragrunt.hcl.
//
// A unit is a directory with such a file and a configuration: files of Terraform in it, or a source
// in the block terraform. It comes after the units that its blocks dependency and dependencies
// name, and those of the files that it includes.
//
// Files are read, and little of them is evaluated: literals, locals, and the functions that paths
// are usually made with. Other expressions are reported, see [Unit.Unknown].
package terragrunt

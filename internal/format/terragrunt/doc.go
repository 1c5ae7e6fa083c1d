// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terragrunt reads what files terragrunt.hcl say about order.
//
// A unit is a directory with such a file and a configuration: files of Terraform in it, or a source
// in the block terraform. It comes after what its blocks dependency and dependencies name, and
// those of the files that it includes.
//
// Files are read, and little of them is evaluated: what is written out, locals, and the functions
// that paths are usually made with. What cannot be evaluated is reported, see [Unit.Unknown].
package terragrunt

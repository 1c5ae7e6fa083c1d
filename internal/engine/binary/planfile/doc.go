// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planfile reads the plan files that terraform and tofu write.
//
// A plan file is a zip whose member "tfplan" is a protobuf message. Reading it directly saves a
// `show -json` process per component, and gives information that this command loses: the exact
// types, unknowns and refinements of the planned output values.
//
// The values of outputs carry their type in the file. The values of resource changes don't: they
// are written with the type of the provider's schema, which the file does not hold. Without a
// schema ([Options.Schema]) they are shaped by the bytes themselves, and the result then differs
// from `show -json` in these ways, and no others known:
//
//  1. Whole numbers beyond 64 bits and numbers with a fraction that no 64-bit float holds exactly
//     (0.1 is one) are written as strings, and come back as strings.
//  2. A collection that is unknown as a whole leaves no empty `[]` or `{}` in after_sensitive.
//  3. For a replacement, terraform lists the sensitive attributes of the provider's schema for the
//     prior value only. The same attributes are then taken as sensitive in the planned value, and
//     so are those of all elements of a list if they were in one. That can hide more than `show
//     -json`, and it misses an attribute that is new in the planned value. A caller that displays
//     values should have the schema.
//
// Values of the type "any" (all of terraform_data's) carry their type and are exact either way.
//
// The format is not a public contract of either program. A file that is not understood is a
// [*FormatError]: ask the engine itself with `show -json` instead. Fields of the message
// that this package does not know are skipped.
//
// The field numbers are facts from OpenTofu's published planfile.proto, from files written by
// terraform, and from the output of `terraform show -json` for files with single fields altered.
package planfile

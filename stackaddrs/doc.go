// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackaddrs has the addresses of the objects in a stack: how they are
// written, parsed, compared and ordered.
//
// There are two families. A configuration address says where something is written and has no
// instance keys (stack.a.component.x). An absolute address says which instance is meant
// (stack.a["k"].component.x["y"]). An object inside of a component has the address that plain
// terraform gives it, behind the address of the component
// (component.x["y"].module.m.aws_thing.z[0]).
//
// Rules:
//
//   - A1. Every address is a comparable value. Two addresses are equal exactly
//     when == says so, and any address can be the key of a map.
//   - A2. The zero [Stack] and the zero [StackInstance] are the root stack, and
//     the zero [InstanceKey] is the absence of a key.
//   - A3. Text is canonical: Parse(a.String()) equals a for each address that
//     has a parser.
//   - A4. Compare orders by stack path, then name, then key; no key comes
//     before integers, integers before strings, and the wildcard comes last.
//     Inside of a component it is module path, mode, type, name, key.
//
// Paths of stacks and modules are interned (package unique), so a path of any depth costs one
// word wherever it is copied, hashed or compared.
package stackaddrs

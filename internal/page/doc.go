// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package page serves what a team looks at to a browser on the same machine: how deployments stand,
// their stacks, plans, histories, and what goes on in them.
//
// Below it: reading finds what pages show, model makes plain data for templates of it. Pages are
// HTML that is readable without a script; the one that there is filters lists while one types, and
// exchanges the part of a page that has changed.
//
// Rules:
//
//   - P1. A request is answered if it has the secret of this process, names this server as its
//     host, and comes from a page of it, or from nobody: other pages in the browser, and names that
//     are made to lead here, get nothing.
//   - P2. Only a POST changes something, and only with a token that a page of this server has. It
//     asks the person at the terminal first, unless that has said otherwise.
//   - P3. Nothing in a page is run but the script of this package, and nothing is loaded from
//     elsewhere: the policy of each answer says so.
//   - P4. Texts are escaped by html/template; they were made safe before, by package model. No text
//     is declared to be HTML.
package page

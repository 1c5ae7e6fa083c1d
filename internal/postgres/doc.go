// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package postgres has the access to a schema of a PostgreSQL database: its location, as libpq
// takes it and with a parameter that names the schema, connections, and errors as faults with
// remedies. No text that it makes for people has a password.
package postgres

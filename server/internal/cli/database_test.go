// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver of the server, for looking into its file
)

// inFile runs statements in a file of SQLite.
func inFile(t *testing.T, file, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// execute runs statements in a database of the PostgreSQL server.
func execute(t *testing.T, database, statements string) {
	t.Helper()
	if err := inPostgres(t.Context(), database, statements); err != nil {
		t.Fatal(err)
	}
}

// TestUpgrade takes the last version of the schema back, which has brought the table of activities.
func TestUpgrade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.db")
	location, database := startPostgres(t)
	for _, test := range []struct {
		name, location string
		downgrade      func()
	}{
		{"file", file, func() {
			inFile(t, file, "DROP TABLE current_chasm_executions; UPDATE schema_version SET curr_version = '0.10' WHERE db_name = 'temporal'")
		}},
		{"postgres", location, func() {
			execute(t, database, "DROP TABLE current_chasm_executions; UPDATE schema_version SET curr_version = '1.18'")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, freeAddress(t), "-db="+test.location)
			s.end(t, os.Interrupt)
			test.downgrade()
			start(t, s.address, "-db="+test.location)
			c := dial(t, s.address, nil)
			submit(t, c, 5)
			work(t, c, queue)
			result(t, c, 5)
		})
	}
}

func TestDatabasesOfOthers(t *testing.T) {
	dir := t.TempDir()
	other, text := filepath.Join(dir, "other.db"), filepath.Join(dir, "notes.txt")
	inFile(t, other, "CREATE TABLE things (name TEXT)")
	if err := os.WriteFile(text, []byte("Buy milk, and a good deal of bread for the whole week.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	location, database := startPostgres(t)
	execute(t, "postgres", `CREATE DATABASE "`+database+`"`)
	execute(t, database, "CREATE TABLE things (name TEXT)")
	for name, test := range map[string]struct{ location, want string }{
		"file":     {other, "it has tables of another program; choose another database with -db"},
		"text":     {text, "file is not a database"},
		"folder":   {dir, "is a directory"},
		"postgres": {location, "it has tables of another program; choose another database with -db"},
	} {
		t.Run(name, func(t *testing.T) {
			launch(t, "-address="+freeAddress(t), "-db="+test.location).await(t, test.want)
		})
	}
	if raw, err := os.ReadFile(text); err != nil || len(raw) != 55 {
		t.Errorf("the text has changed: got %q, error %v", raw, err)
	}
}

// TestUserWithoutRights shows the statements for an administrator, and that they are enough.
func TestUserWithoutRights(t *testing.T) {
	location, database := startPostgres(t)
	execute(t, "postgres", "CREATE ROLE plain LOGIN PASSWORD 'plain'")
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("plain", "plain")
	for _, name := range []string{database, database + "_visibility"} {
		statement := `CREATE DATABASE "` + name + `" OWNER "plain"`
		launch(t, "-address="+freeAddress(t), "-db="+u.String()).await(t, "have an administrator run: "+statement)
		execute(t, "postgres", statement)
	}
	start(t, freeAddress(t), "-db="+u.String())
}

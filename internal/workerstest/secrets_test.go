// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// The values that must not be seen, and one that may be in states and output only.
const (
	secretMark = "Hush7fA0q2LmZx9PbRw"
	plainMark  = "Plain4kT1v8NcYs6Gde"
)

const secretStack = `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}

variable "secret" {
  type      = string
  sensitive = true
}

variable "brief" {
  type      = string
  ephemeral = true
}

variable "plain" { type = string }

provider "fake" "main" {
  config {
    authentication = var.brief
    string         = var.secret
  }
}

component "main" {
  source    = "./main"
  inputs    = { secret = var.secret, plain = var.plain, brief = var.brief }
  providers = { fake = provider.fake.main }
}

output "secret" {
  type      = string
  value     = component.main.secret
  sensitive = true
}
`

const secretModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "secret" {
  type      = string
  sensitive = true
}

variable "brief" {
  type      = string
  ephemeral = true
}

variable "plain" { type = string }

ephemeral "fake_ephemeral" "token" {
  name = var.brief
}

resource "fake_everything" "all" {
  value  = var.plain
  secret = "${var.secret}-attribute"
}

resource "fake_slow" "slow" {
  value        = "${var.secret}-value"
  create_delay = "500ms"
}

resource "fake_writeonly" "written" {
  value          = var.plain
  secret         = ephemeral.fake_ephemeral.token.value
  secret_version = 1
}

output "secret" {
  value     = "${fake_slow.slow.value}-output"
  sensitive = true
}
`

// Values of the stacks are in the clear where the user wants them, and nowhere else (rule W6).
func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]clusterOptions{
		"files":    {queue: temporaltest.File, records: inDirectory},
		"objects":  {queue: temporaltest.File, records: inObjects},
		"postgres": {queue: inPostgres, records: inPostgres},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, options)
			dir := filepath.Join(c.dir, "repository")
			if out, err := testenv.Command(t, testenv.Git(t), "init", "--quiet", dir).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v\n%s", err, out)
			}
			var workspace strings.Builder
			for i, tags := range []string{"", fmt.Sprintf("  tags = [%q]\n  inputs = { plain = stack.one.output.secret }\n", otherPool)} {
				stack := []string{"one", "two"}[i]
				fmt.Fprintf(&workspace, "stack %q {\n  path = %[1]q\n%s}\n", stack, tags)
				writeFile(t, filepath.Join(dir, stack, "main.tfcomponent.hcl"), secretStack)
				writeFile(t, filepath.Join(dir, stack, "main", "main.tf"), secretModule)
			}
			writeFile(t, filepath.Join(dir, "cairn.workspace.hcl"), workspace.String())
			c.addWorker(defaultPool)
			c.addWorker(otherPool)
			var watching sync.WaitGroup
			over := make(chan struct{})
			for _, w := range c.workers {
				watching.Go(func() { watchFiles(t, filepath.Join(w.dir, "tmp"), over) })
			}
			p := c.start(c.user, dir, []string{"run", "apply", "-auto-approve", "-no-color", "-report=" + filepath.Join(c.dir, "report.json")},
				"CAIRN_RUN_KEY="+c.keyFile("run"), "CAIRN_VAR_secret="+secretMark, "CAIRN_VAR_brief="+secretMark+"-brief",
				"CAIRN_VAR_plain="+plainMark)
			testenv.Receive(t, "end of the run", p.ended)
			close(over)
			watching.Wait()
			said := p.output(t)
			if p.code() != 0 || !strings.Contains(said, plainMark) {
				t.Fatalf("the run has ended with exit code %d:\n%s", p.code(), said)
			}
			shown, err := c.answer(c.dir, "run", "show", "-json", announcedIn(t, p))
			if err != nil {
				t.Fatal(err)
			}
			ends, err := c.answer(c.dir, "run", "attach", announcedIn(t, p))
			if err != nil {
				t.Fatal(err)
			}
			for what, text := range map[string]string{"output of the run": said, "run show": shown, "run attach": ends} {
				find(t, what, []byte(text), secretMark)
			}
			for what, text := range map[string]string{"run show": shown, "log of the queue": c.temporal.Log(t)} {
				find(t, what, []byte(text), plainMark, secretMark)
			}
			for _, w := range c.workers {
				find(t, "log of "+w.name, []byte(w.output(t)), secretMark, plainMark)
				findInFiles(t, filepath.Join(w.dir, "tmp"), secretMark, plainMark)
				findInFiles(t, filepath.Join(w.dir, "cache"), secretMark, plainMark)
			}
			findInFiles(t, filepath.Join(c.dir, "report.json"), secretMark)
			findInFiles(t, filepath.Join(c.user.dir, "tmp"), secretMark)
			findInFiles(t, filepath.Join(c.user.dir, "cache"), secretMark)
			if options.records != inPostgres {
				records := filepath.Join(c.dir, "records")
				if c.objects != nil {
					records = c.objects.Data()
				}
				if files := findInFiles(t, records, secretMark, plainMark); files < 10 {
					t.Errorf("only %d records were searched", files)
				}
				database := filepath.Join(c.temporal.Dir(), "temporal.db")
				findInFiles(t, database, secretMark, plainMark)
				findInFiles(t, database+"-wal", secretMark, plainMark)
				return
			}
			for database, schema := range map[string]string{"queue": "", "queue_visibility": "", postgrestest.Database: "records"} {
				if found := searchTables(c, database, schema, secretMark, plainMark); len(found) > 0 {
					t.Errorf("the database %s has %q (rule W6)", database, found)
				}
			}
			if found := searchTables(c, postgrestest.Database, "", plainMark); len(found) == 0 {
				t.Error("the states do not have the values, or the search does not find them")
			}
		})
	}
}

// find fails where one of some marks is in a content, plainly or encoded.
func find(t *testing.T, what string, content []byte, marks ...string) {
	t.Helper()
	for _, found := range marksIn(content, marks) {
		t.Errorf("%s has %s (rule W6)", what, found)
	}
}

// marksIn says which marks are in a content.
func marksIn(content []byte, marks []string) (found []string) {
	for _, mark := range marks {
		for encoding, pattern := range encoded(mark) {
			if strings.Contains(string(content), pattern) {
				found = append(found, mark+" in "+encoding)
			}
		}
	}
	return found
}

// encoded returns parts of a text as they are in its encodings, wherever it begins.
func encoded(text string) map[string]string {
	patterns := map[string]string{"the clear": text, "hexadecimal": hex.EncodeToString([]byte(text))}
	for skip := range 3 { // groups of three bytes
		whole := text[skip : len(text)-(len(text)-skip)%3]
		patterns[fmt.Sprint("base64, from ", skip)] = base64.StdEncoding.EncodeToString([]byte(whole))
	}
	return patterns
}

// findInFiles searches a file, or all in a directory, and returns their number.
func findInFiles(t *testing.T, root string, texts ...string) (files int) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		find(t, path, content, texts...)
		files++
		return err
	})
	if err != nil && (!os.IsNotExist(err) || !strings.HasSuffix(root, "-wal")) {
		t.Error(err)
	}
	return files
}

var hexBytes = regexp.MustCompile(`\\\\?x([0-9a-f]{16,})`)

// searchTables searches all rows of a database, or of a schema in it.
func searchTables(c *cluster, database, schema string, marks ...string) (found []string) {
	c.Helper()
	ctx := context.WithoutCancel(c.Context())
	address := c.postgres.Address()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s:%s@%s/%s", postgrestest.User, postgrestest.Password, address, database))
	if err != nil {
		c.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // it has only read
	rows, err := conn.Query(ctx, `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND ($1 = '' OR schemaname = $1)`, schema)
	if err != nil {
		c.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		c.Fatalf("%s has the tables %q, error %v", database, tables, err)
	}
	count := 0
	for _, table := range tables {
		rows, err := conn.Query(ctx, "SELECT t::text FROM "+table+" t")
		if err != nil {
			c.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			c.Fatal(err)
		}
		for _, text := range texts {
			count++
			found = append(found, marksIn([]byte(text), marks)...)
			for _, value := range hexBytes.FindAllStringSubmatch(text, -1) {
				content, err := hex.DecodeString(value[1][:len(value[1])&^1])
				if err != nil {
					c.Fatal(err)
				}
				found = append(found, marksIn(content, marks)...)
			}
		}
	}
	if count < 10 {
		c.Errorf("only %d rows of %s were searched", count, database)
	}
	return found
}

// watchFiles looks at the files of a worker while it works: nobody else can read them.
func watchFiles(t *testing.T, root string, over <-chan struct{}) {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	seen := 0
	for {
		select {
		case <-over:
			if seen == 0 {
				t.Errorf("no file was ever seen in %s", root)
			}
			return
		case <-ticker.C:
		}
		// Files go while they are looked at.
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // as above
			}
			info, err := entry.Info()
			if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
				return nil //nolint:nilerr // as above
			}
			if info.Mode().IsRegular() {
				seen++
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the mode %s (rule W6)", path, info.Mode())
			}
			return nil
		})
	}
}

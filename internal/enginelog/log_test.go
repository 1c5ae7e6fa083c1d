// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginelog_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/enginelog"
)

// open opens a log in a directory of the test, and returns how to read it.
func open(t *testing.T, env ...string) (*enginelog.Log, func() string) {
	t.Helper()
	dir := t.TempDir()
	log, err := enginelog.Open(env, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log, func() string {
		content, err := os.ReadFile(filepath.Join(dir, enginelog.FileName))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}

func TestNotAsked(t *testing.T) {
	log, err := enginelog.Open([]string{"TF_LOG=off", "TF_LOG_PATH=" + filepath.Join(t.TempDir(), "none", "x.log")}, t.TempDir())
	if err != nil || log != nil {
		t.Fatalf("Open = %v, %v, want no log", log, err)
	}
	if log.Core() != nil || log.Lines("p") != nil || log.LevelOfProviders() != "ERROR" || log.Close() != nil {
		t.Error("no log has something to write to")
	}
}

func TestOneKind(t *testing.T) {
	core, _ := open(t, "TF_LOG_CORE=debug")
	if core.Core() == nil || core.Lines("p") != nil || core.LevelOfProviders() != "ERROR" {
		t.Error("with TF_LOG_CORE, the log is of cairn alone")
	}
	provider, _ := open(t, "TF_LOG_PROVIDER=json")
	if provider.Core() != nil || provider.Lines("p") == nil || provider.LevelOfProviders() != "TRACE" {
		t.Error("with TF_LOG_PROVIDER, the log is of providers alone")
	}
}

func TestUnknownLevel(t *testing.T) {
	_, read := open(t, "TF_LOG=loud")
	if got := read(); !strings.Contains(got, "[WARN]") || !strings.Contains(got, "TF_LOG=loud") {
		t.Errorf("log is %q, want a warning about the level", got)
	}
}

// The times of entries are of no interest here.
var entryTime = regexp.MustCompile(`(?m)^\S+ `)

func TestLines(t *testing.T) {
	log, read := open(t, "TF_LOG_PROVIDER=debug")
	w := log.Lines("fake")
	for _, part := range []string{ // as go-plugin writes lines, their ends, and lines that are too long for it
		`{"@level":"info","@message":"hello there","@module":"fake.sub",` +
			`"@timestamp":"2026-01-02T03:04:05.000000Z","z":12345678901234567890,"a":["b",{"c":1}]}`, "\n",
		`{"@level":"trace","@message":"of no interest"}`, "\n",
		`{"@level":"loud","@message":"no level"}`, "\n",
		`{"@level":1,"@message":2}`, "\n",
		`{"@level":"info","@message":"cut o`, "\n",
		`{"@message":"two"} {}`, "\n",
		`null`, "\n",
		``, "\n",
		`2026/01/02 03:04:05 [WARN] by the log package`, "\n",
		`[TRACE] of no interest`, "\n",
		"in ", "two ", "parts\r", "\n",
		`plain`, "\n",
		`panic: no good`, "\n",
		"goroutine 1 [running]:", "\n",
	} {
		if n, err := io.WriteString(w, part); n != len(part) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", part, n, err)
		}
	}
	want := []string{
		`[INFO]  provider.fake: hello there: @module=fake.sub a=[b, map[c:1]] timestamp=2026-01-02T03:04:05.000000Z z=12345678901234567890`,
		`[DEBUG] provider.fake: no level`,
		`[DEBUG] provider.fake: {"@level":1,"@message":2}`,
		`[DEBUG] provider.fake: {"@level":"info","@message":"cut o`,
		`[DEBUG] provider.fake: {"@message":"two"} {}`,
		`[DEBUG] provider.fake: null`,
		`[WARN]  provider.fake: by the log package`,
		`[DEBUG] provider.fake: in two parts`,
		`[DEBUG] provider.fake: plain`,
		`[ERROR] provider.fake: panic: no good`,
		`[ERROR] provider.fake: goroutine 1 [running]:`,
	}
	got := strings.Split(strings.TrimSpace(entryTime.ReplaceAllString(read(), "")), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestLineWithoutEnd checks that a line that never ends is written all the same.
func TestLineWithoutEnd(t *testing.T) {
	log, read := open(t, "TF_LOG=debug")
	w := log.Lines("fake")
	for range 3 << 10 {
		if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(read(), "[DEBUG]"); got != 3 {
		t.Errorf("three MiB without an end are %d entries, want 3", got)
	}
}

// TestNothingMixes checks rule E2: several logs of one file, as of several components.
func TestNothingMixes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	var all sync.WaitGroup
	const writers, entries = 8, 200
	for i := range writers {
		log, err := enginelog.Open([]string{"TF_LOG=json", "TF_LOG_PATH=" + path}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		w := log.Lines(fmt.Sprint(i))
		all.Go(func() {
			for range entries {
				_, _ = io.WriteString(w, strings.Repeat("x", 3000)+"\n") // it is seen below if it failed
				log.Core().Debug("core")
			}
		})
	}
	all.Wait()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var count int
	for line := range strings.Lines(string(content)) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("a line is not JSON: %v: %.200q", err, line)
		}
		count++
	}
	if count != writers*entries*2 {
		t.Errorf("there are %d lines, want %d", count, writers*entries*2)
	}
}

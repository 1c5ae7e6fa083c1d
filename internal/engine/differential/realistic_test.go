// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// TestRealistic compares both engines on modules as people write them, with real providers. Nothing
// is recorded, as values that providers make up differ in each run, but for modules that terraform
// cannot plan, in which nothing is made up. DIR in an archive is a directory that there is in that
// run only, URL a server.
func TestRealistic(t *testing.T) {
	if os.Getenv(testenv.OracleVariable) == "" {
		t.Skip("builds providers and runs terraform for minutes: make differential")
	}
	paths, err := filepath.Glob("testdata/realistic/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("archives: %d, %v", len(paths), err)
	}
	var cluster *cluster // of one run
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, apiPrefix) {
			cluster.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", "Mon, 01 Jan 2024 00:00:00 GMT") // the same for both engines
		fmt.Fprintf(w, "{\"path\": %q, \"zones\": [\"a\", \"b\", \"c\"]}\n", r.URL.Path)
	}))
	defer server.Close()
	t.Setenv("KUBE_HOST", server.URL)
	t.Setenv("KUBE_LOAD_CONFIG_FILE", "false")
	native, terraform := NewNative(t), NewTerraform(t)
	packages := realPackages(t)
	native.packages, terraform.packages = append(native.packages, packages...), append(terraform.packages, packages...)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			answer := func(b *Bench) string {
				dir := t.TempDir()
				cluster = newCluster()
				c, err := ParseCase([]byte(strings.NewReplacer("DIR", dir, "URL", server.URL).Replace(string(text))))
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(b.Run(t, c), dir, "DIR")
			}
			recorded, err := ParseCase(text)
			if err != nil {
				t.Fatal(err)
			}
			want := recorded.Want
			if recorded.ByHand == "" {
				want = answer(terraform)
			}
			got := InWordsOf(want, answer(native))
			if recorded.ByHand == "" {
				got = renamed(want, got, string(text))
			} else if os.Getenv("UPDATE_GOLDEN") != "" {
				want, recorded.Want = got, got
				if err := os.WriteFile(path, recorded.Format(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := differences(want, got); diff != "" {
				t.Errorf("the native engine differs (-terraform +native):\n%s", diff)
			}
			if strings.Contains(want, "\nerror ") && !bytes.Contains(text, []byte("fails")) {
				t.Errorf("terraform fails:\n%s", want)
			}
		})
	}
}

// realPackages returns all real providers.
func realPackages(t *testing.T) []engine.ProviderPackage {
	t.Helper()
	providers := append([]toolcache.Provider{toolcache.Time, toolcache.Kubernetes}, toolcache.Real...)
	return packagesOf(t, testenv.RealProviderMirror(t, providers...), providers...)
}

// packagesOf returns providers of a mirror.
func packagesOf(t *testing.T, mirror string, providers ...toolcache.Provider) []engine.ProviderPackage {
	t.Helper()
	var packages []engine.ProviderPackage
	for _, p := range providers {
		addr, err := stackaddrs.ParseProvider(toolcache.Hosts()[0] + "/" + p.Name)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(mirror, filepath.FromSlash(addr.String()), p.Release(), runtime.GOOS+"_"+runtime.GOARCH)
		packages = append(packages, engine.ProviderPackage{Provider: addr, Version: p.Release(), Dir: dir})
	}
	return packages
}

// token is a word, a string or a number.
var token = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*|"(?:[^"\\]|\\.)*"|-?[0-9][0-9.e+]*`)

// renamed returns a text in which literals are those that another text has at the same places, as
// far as each stands for the same one wherever the same word is before it: encodings differ in
// where they have special characters. Those that are in the archive are nobody's invention, and
// stay.
func renamed(want, got, archive string) string {
	wanted := token.FindAllString(want, -1)
	forward, backward := map[string]string{}, map[string]string{}
	word := ""
	i := -1
	return token.ReplaceAllStringFunc(got, func(name string) string {
		i++
		if i >= len(wanted) || wanted[i] == name {
			word = name
			return name
		}
		other := wanted[i]
		if !isLiteral(name) || !isLiteral(other) || strings.Contains(archive, strings.Trim(name, `"`)) {
			return name
		}
		if before, ok := forward[word+name]; ok && before != other {
			return name
		}
		if before, ok := backward[word+other]; ok && before != name {
			return name
		}
		forward[word+name], backward[word+other] = other, name
		return other
	})
}

// isLiteral reports whether a token is no word.
func isLiteral(token string) bool { return strings.Contains(`"-0123456789`, token[:1]) }

func TestRenamed(t *testing.T) {
	const archive = `value = "given"`
	for _, test := range []struct{ want, got, result string }{
		{`a "x1" "given" "x1" 7`, `a "y1" "given" "y1" 8`, `a "x1" "given" "x1" 7`},
		{`a "x1" "x1"`, `a "y1" "y2"`, `a "x1" "y2"`},
		{`a "x1" "x2"`, `a "y1" "y1"`, `a "x1" "y1"`},
		{`a "other"`, `a "given"`, `a "given"`},
	} {
		if got := renamed(test.want, test.got, archive); got != test.result {
			t.Errorf("renamed(%s, %s) = %s, want %s", test.want, test.got, got, test.result)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// The example of environments has the same plans and states with and without workers (rule W7). Its
// two root modules get a backend that all machines reach: without one, their states are files
// beside them, and stay on the machine of a worker.
func TestSame(t *testing.T) {
	t.Parallel()
	engine := testenv.Engine(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, clusterOptions{
		queue: temporaltest.Memory, records: inPostgres,
		environ: []string{
			"CAIRN=" + self, "CAIRN_ENGINE=auto", "PATH=" + filepath.Dir(engine) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		},
	})
	c.addWorker(defaultPool)
	c.addWorker(defaultPool)
	with := c.environments("with")
	c.postgres.Exec(t, "postgres", "CREATE DATABASE without")
	without := c.environments("without", "CAIRN_WORKERS=none",
		"CAIRN_STATE="+strings.Replace(c.postgres.URL(""), "/states", "/without", 1))
	if diff := cmp.Diff(without, with); diff != "" {
		t.Errorf("plans and states (-without workers +with them):\n%s", diff)
	}
	if len(with) != 13 {
		t.Errorf("there are %d states and sets of plans, want those of 10 stacks, 2 root modules and a set", len(with))
	}
}

// environments plans and applies a copy of the example, and returns its plans and states without
// what differs each time.
func (c *cluster) environments(name string, env ...string) map[string]any {
	c.Helper()
	dir := filepath.Join(c.dir, name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "environments"))); err != nil {
		c.Fatal(err)
	}
	modules := []string{"dns", "vpn"}
	for _, module := range modules {
		state := filepath.Join(c.dir, "root-"+name, module+".tfstate")
		writeFile(c, filepath.Join(dir, "shared", module, "backend.tf"),
			fmt.Sprintf("terraform {\n  backend \"local\" {\n    path = %q\n  }\n}\n", state))
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "-m", "all"},
	} {
		if out, err := testenv.Command(c, testenv.Git(c), append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			c.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	found := map[string]any{}
	set := filepath.Join(c.dir, name+"-set")
	c.must(dir, env, "run", "plan", "-no-color", "-out="+set)
	found["plans"] = normalized(c, c.must(c.dir, env, "show", "-json", set))
	c.must(dir, env, "run", "apply", "-no-color", "-auto-approve")
	stacks, err := filepath.Glob(filepath.Join(dir, "*", "*", "main.tfcomponent.hcl"))
	if err != nil {
		c.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "main.tfcomponent.hcl"))
	if err != nil {
		c.Fatal(err)
	}
	for _, file := range append(stacks, more...) {
		at := filepath.Dir(file)
		found[strings.TrimPrefix(at, dir)] = normalized(c, c.must(at, env, "show", "-json"))
	}
	for _, module := range modules {
		state, err := os.ReadFile(filepath.Join(c.dir, "root-"+name, module+".tfstate"))
		if err != nil {
			c.Fatal(err)
		}
		found[module] = normalized(c, serial.ReplaceAllString(string(state), `"serial": 0`))
	}
	return found
}

// must runs a command of the user, and returns its standard output.
func (c *cluster) must(dir string, env []string, args ...string) string {
	c.Helper()
	out, err := c.answerWith(dir, env, args...)
	if err != nil {
		c.Fatalf("%v\n%s", err, out)
	}
	return out
}

// serial counts how often terraform has written a state, which is up to the time that it takes.
var serial = regexp.MustCompile(`"serial": \d+`)

// varying are values that differ each time.
var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// normalized returns a JSON document without what differs each time.
func normalized(t testing.TB, document string) any {
	t.Helper()
	var decoded any
	if err := json.Unmarshal([]byte(varying.ReplaceAllString(document, "…")), &decoded); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return decoded
}

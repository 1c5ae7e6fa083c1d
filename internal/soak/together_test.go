// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// leavesPerBase is the number of components that need one base.
const leavesPerBase = 9

const togetherModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "name" { type = string }

variable "after" {
  type    = string
  default = ""
}

resource "fake_slow" "object" {
  value        = "component.${var.name}.fake_slow.object ${var.after}"
  create_delay = "200ms"
}

output "id" { value = fake_slow.object.id }
`

// writeTogether writes a stack of bases, each with the components that need it, and an output that
// is made of all bases. It returns the names of the components.
func writeTogether(t *testing.T, dir string, bases int) []string {
	t.Helper()
	var stack strings.Builder
	stack.WriteString("required_providers {\n  fake = { source = \"cairnstacks/fake\", version = \"~> 1.0\" }\n}\n" +
		"provider \"fake\" \"main\" {}\n")
	var names, ids []string
	add := func(name, inputs string) {
		fmt.Fprintf(&stack, "component %q {\n  source = \"./m\"\n  inputs = { name = %[1]q%s }\n  providers = { fake = provider.fake.main }\n}\n",
			name, inputs)
		names = append(names, name)
	}
	for i := range bases {
		base := fmt.Sprintf("base%d", i)
		add(base, "")
		ids = append(ids, base+" = component."+base+".id")
		for j := range leavesPerBase {
			add(fmt.Sprintf("leaf%d_%d", i, j), ", after = component."+base+".id")
		}
	}
	fmt.Fprintf(&stack, "output \"ids\" {\n  type = map(string)\n  value = {\n    %s\n  }\n}\n", strings.Join(ids, "\n    "))
	err := os.MkdirAll(filepath.Join(dir, "m"), 0o700)
	for name, content := range map[string]string{"main.tfcomponent.hcl": stack.String(), "m/main.tf": togetherModule} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Users with checkouts of their own plan and apply random parts of one deployment at the same time.
// Each refusal has a reason. In the end the state is what exists, object by object, and the output
// that is made of everything is what one evaluates from it.
func TestTogether(t *testing.T) {
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	server := startDatabase(t)
	engine := &modulesEngines[1] // whose processes are few
	dir := t.TempDir()
	place := filepath.Join(dir, "cairn.state.db")
	if server != nil {
		place = locations.WithKey(server.place, "together")
	}
	sum := &tally{}
	sum.mu.counts = map[string]int{}
	seed := testenv.Seed(t)
	var names []string
	newUser := func(number int) *life {
		l := &life{
			T: t, dir: filepath.Join(dir, fmt.Sprint("user", number)), store: testprovider.Store{Dir: filepath.Join(dir, "store")},
			random: rand.New(rand.NewPCG(seed, uint64(number))), written: map[string]bool{}, //nolint:gosec // to be repeated
			lifeOptions: lifeOptions{engine: engine, setting: engine.setting(t), config: config, sum: sum, place: place, database: server},
		}
		names = writeTogether(t, l.dir, *basesFlag)
		return l
	}
	first := newUser(0)
	if done := first.exec([]string{"apply", "-auto-approve", "-no-color"}, nil); done.code != 0 {
		t.Fatal(done.stderr)
	}
	end := time.Now().Add(*togetherFlag)
	var users sync.WaitGroup
	for number := range *usersFlag {
		user := newUser(number + 1)
		users.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				user.changeSomething(names)
			}
		})
	}
	users.Wait()
	t.Logf("%d users in %s: %s", *usersFlag, *togetherFlag, sum)
	if sum.mu.counts["applied"] == 0 {
		t.Error("nobody has applied anything")
	}
	want := make([]string, 0, len(names))
	for _, name := range names {
		want = append(want, "component."+name+".fake_slow.object")
	}
	slices.Sort(want)
	first.check(want)
	first.checkOutput()
	if done := first.exec([]string{"apply", "-auto-approve", "-no-color"}, nil); done.code != 0 {
		t.Fatal(done.stderr)
	}
	first.check(want)
	first.checkOutput()
}

// refusals are the reasons for which a command may end without having done anything.
var refusals = map[string]string{
	"State locked":             "locked",
	"Stale plan":               "stale",
	"State change in progress": "not planned",
}

// changeSomething replaces the objects of some components by a saved plan, or tries to.
func (l *life) changeSomething(names []string) {
	file := fmt.Sprint("plan", l.count)
	l.count++
	args := []string{"plan", "-no-color", "-out=" + file}
	for range 1 + l.random.IntN(3) {
		name := names[l.random.IntN(len(names))]
		if l.random.IntN(3) == 0 { // of which the output is made
			name = fmt.Sprint("base", l.random.IntN(*basesFlag))
		}
		args = append(args, "-target=component."+name, "-replace=component."+name+".fake_slow.object")
	}
	if !l.accepted(args, "") {
		return
	}
	time.Sleep(l.upTo(100 * time.Millisecond)) //nolint:forbidigo // somebody looks at the plan
	args = []string{"apply", "-no-color", file}
	if l.random.IntN(2) == 0 {
		args = slices.Insert(args, 1, "-lock-timeout=10s")
	}
	l.accepted(args, "applied")
	if err := os.Remove(filepath.Join(l.dir, file)); err != nil {
		l.Error(err)
	}
}

// accepted runs a command that is done, or refused for a known reason.
func (l *life) accepted(args []string, as string) bool {
	done := l.exec(args, nil)
	if done.code == 0 {
		if as != "" {
			l.sum.add(as)
		}
		return true
	}
	for text, reason := range refusals {
		if strings.Contains(done.stderr, text) {
			l.sum.add(reason)
			return false
		}
	}
	l.Errorf("%s ended with exit code %d:\n%s%s", strings.Join(args, " "), done.code, done.stdout, done.stderr)
	return false
}

// checkOutput compares the output of all bases with the objects that exist.
func (l *life) checkOutput() {
	shown := l.exec([]string{"output", "-json", "ids"}, nil)
	var ids map[string]string
	if err := json.Unmarshal([]byte(shown.stdout), &ids); err != nil {
		l.Fatalf("output: %s\n%s%s", err, shown.stdout, shown.stderr)
	}
	objects := l.objects()
	for base, id := range ids {
		if want := "component." + base + ".fake_slow.object"; objects[id] != want {
			l.Errorf("the output has %q for %s, which is %q", id, want, objects[id])
		}
	}
	if len(ids) != *basesFlag {
		l.Errorf("the output has %d ids, want %d", len(ids), *basesFlag)
	}
}

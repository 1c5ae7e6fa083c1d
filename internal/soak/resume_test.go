// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// chainLength is the number of components, each of which needs the one before it.
const chainLength = 10

const chainModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "name" { type = string }
variable "after" { type = string }

resource "fake_resource" "first" {
  value = "component.${var.name}.fake_resource.first ${var.after}"
}

resource "fake_slow" "second" {
  value        = "component.${var.name}.fake_slow.second ${fake_resource.first.id}"
  create_delay = "30ms"
}

resource "fake_computed" "third" {
  value      = "component.${var.name}.fake_computed.third"
  depends_on = [fake_slow.second]
}

output "id" { value = fake_computed.third.id }
`

// writeChain writes the stack and returns the objects that are to exist, sorted.
func writeChain(t *testing.T, dir string) []string {
	t.Helper()
	var stack strings.Builder
	stack.WriteString("required_providers {\n  fake = { source = \"cairnstacks/fake\", version = \"~> 1.0\" }\n}\n" +
		"provider \"fake\" \"main\" {}\n")
	var want []string
	after := `"start"`
	for i := range chainLength {
		name := fmt.Sprintf("c%d", i)
		fmt.Fprintf(&stack, "component %q {\n  source = \"./m\"\n  inputs = { name = %[1]q, after = %[2]s }\n"+
			"  providers = { fake = provider.fake.main }\n}\n", name, after)
		after = "component." + name + ".id"
		want = append(want, "component."+name+".fake_resource.first", "component."+name+".fake_slow.second",
			"component."+name+".fake_computed.third")
	}
	err := os.MkdirAll(filepath.Join(dir, "m"), 0o700)
	for name, content := range map[string]string{"main.tfcomponent.hcl": stack.String(), "m/main.tf": chainModule} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	return want
}

// A saved plan whose apply is killed, together with the engine or not, or is interrupted, at any
// moment: the same plan applied again does the rest. Objects that were made without doubt are not
// made again.
func TestResumeSavedPlan(t *testing.T) {
	moments := 20
	if testing.Short() {
		moments = 4
	}
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	for i := range modulesEngines {
		engine := &modulesEngines[i]
		t.Run(engine.name, func(t *testing.T) {
			opts := lifeOptions{engine: engine, setting: engine.setting(t), config: config, sum: &tally{}}
			opts.sum.mu.counts = map[string]int{}
			resumeAll(t, opts, moments)
		})
	}
}

func resumeAll(t *testing.T, opts lifeOptions, moments int) {
	t.Run("workers", func(t *testing.T) {
		workers := 2 * runtime.NumCPU() // each waits for processes most of the time
		for worker := range workers {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				resumeAt(t, opts, func(yield func(moment, of int) bool) {
					for moment := worker; moment < moments && yield(moment, moments); moment += workers {
					}
				})
			})
		}
	})
	t.Log(opts.sum)
	if resumed := opts.sum.mu.counts["applies gone on with"]; resumed < moments/2 {
		t.Errorf("only %d of %d applies were gone on with", resumed, moments)
	}
}

// resumeAt has a stack of its own whose apply is cut off at some moments.
func resumeAt(t *testing.T, opts lifeOptions, moments iter.Seq2[int, int]) {
	dir := t.TempDir()
	l := &life{
		T: t, dir: filepath.Join(dir, "stack"), store: testprovider.Store{Dir: filepath.Join(dir, "store")}, written: map[string]bool{},
		lifeOptions: opts,
	}
	want := writeChain(t, l.dir)
	t.Cleanup(func() {
		l.killAll()
		if t.Failed() {
			t.Log(strings.Join(l.history, "\n"))
		}
	})
	if done := l.exec([]string{"plan", "-out=saved", "-no-color"}, nil); done.code != 0 {
		t.Fatal(done.stderr)
	}
	for moment, of := range moments {
		l.forget()
		kind := ends[moment%len(ends)]
		// The object that was made last may not be in the state if nobody was left who could have heard
		// of it.
		doubtful := kind.all || kind.name == "cairn" && len(opts.engine.programs) == 0
		l.note("moment %d: %s", moment, kind.name)
		cut := l.applySaved(func(run *running) {
			for len(l.objects()) < moment*(len(want)-1)/of {
				select {
				case <-run.ended:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
			select {
			case <-run.ended:
			case <-time.After(time.Duration(moment%5) * 20 * time.Millisecond):
				kind.end(l, run)
				l.sum.kill(kind.name)
			}
		})
		l.remember()
		made := l.objects()
		if cut.code != 0 {
			l.finish()
		}
		for id, address := range made {
			if l.objects()[id] == "" && !doubtful {
				t.Errorf("moment %d: %s was made, and is not there any more", moment, address)
			}
		}
		l.check(want)
	}
}

// ends are the ways in which an apply is cut off.
var ends = []struct {
	name string
	end  func(l *life, run *running)
	all  bool // processes of engines are killed, too
}{
	{name: "cairn", end: func(_ *life, run *running) { run.signal(syscall.SIGKILL) }},
	{name: "SIGINT", end: func(_ *life, run *running) { run.signal(syscall.SIGINT) }},
	{name: "cairn", end: func(_ *life, run *running) { run.signal(syscall.SIGKILL) }},
	{name: "tree", all: true, end: func(l *life, run *running) {
		run.signal(syscall.SIGKILL)
		l.killAll()
	}},
}

// finish applies the plan again until it is done. Only objects in doubt may keep it from that.
func (l *life) finish() {
	for range 3 {
		done := l.applySaved(nil)
		if strings.Contains(done.stderr, "Going on from there") {
			l.sum.add("applies gone on with")
		}
		l.accept = false
		if done.code == 0 || strings.Contains(done.stderr, "this plan was applied already") { // it was killed when all was done
			return
		}
		if !strings.Contains(done.stderr, "-accept-recovery") {
			break
		}
		l.look(done.stderr)
		l.accept = true
	}
	l.fatalf("the same plan does not go on")
}

func (l *life) applySaved(disturb func(*running)) result {
	args := []string{"apply", "-no-color", "saved"}
	if l.accept {
		args = slices.Insert(args, 1, "-accept-recovery")
	}
	done := l.exec(args, disturb)
	l.note("%s ended with exit code %d\n%s", strings.Join(args, " "), done.code, indent(done.stderr))
	return done
}

// forget makes all as it was when the plan was made.
func (l *life) forget() {
	files, err := filepath.Glob(filepath.Join(l.dir, "*cairn.state.db*"))
	for _, path := range append(files, filepath.Join(l.dir, ".cairn", "runs"), l.store.Dir) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		l.Fatal(err)
	}
}

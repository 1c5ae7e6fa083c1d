// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const fullDiskStack = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}

provider "fake" "main" {}

variable "password" {
  type      = string
  default   = "hunter2hunter2"
  sensitive = true
}

variable "gate" {
  type = string
}

component "slow" {
  source    = "./slow"
  inputs    = { value = var.password, gate = var.gate }
  providers = { fake = provider.fake.main }
}

component "last" {
  source = "./last"
  inputs = { value = component.slow.id }
}
`

const fullDiskModule = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "value" {
  type      = string
  sensitive = true
}

variable "gate" {
  type = string
}

resource "fake_slow" "x" {
  value       = var.value
  create_gate = var.gate
}

output "id" {
  value = fake_slow.x.id
}
`

const fullDiskLast = `
variable "value" {
  type = string
}

resource "terraform_data" "x" {
  input = var.value
}
`

// fullDisk is a stack on a disk of its own that is full as soon as its first component is being
// applied. The engine writes its files elsewhere.
type fullDisk struct {
	t     *testing.T
	disk  string // with everything else
	stack string
	gate  string
	env   []string
}

func newFullDisk(t *testing.T) *fullDisk {
	t.Helper()
	testenv.Engine(t)
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	dir := t.TempDir()
	d := &fullDisk{t: t, disk: filepath.Join(dir, "disk"), gate: filepath.Join(dir, "gate")}
	d.stack = filepath.Join(d.disk, "stack")
	work := filepath.Join(dir, "work")
	mustNot(t, errors.Join(os.Mkdir(d.disk, 0o700), os.Mkdir(work, 0o700)))
	testenv.SmallDisk(t, d.disk, 16<<20)
	home, temporary := filepath.Join(d.disk, "home"), filepath.Join(d.disk, "tmp")
	for path, content := range map[string]string{
		"main.tfcomponent.hcl": fullDiskStack,
		"slow/main.tf":         fullDiskModule,
		"last/main.tf":         fullDiskLast,
	} {
		path = filepath.Join(d.stack, path)
		mustNot(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
	}
	mustNot(t, errors.Join(os.Mkdir(home, 0o700), os.Mkdir(temporary, 0o700), os.Symlink(work, filepath.Join(d.stack, env.WorkDir))))
	d.env = []string{
		"TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1", "HOME=" + home, "TMPDIR=" + temporary, "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=",
		"TF_VAR_gate=" + d.gate, "COLUMNS=1000",
	}
	return d
}

func mustNot(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// arguments run cairn where nothing can be written to shared memory either.
func (d *fullDisk) arguments(args ...string) []string {
	return append([]string{"-m", "sh", "-c", `mount -t tmpfs -o ro none /dev/shm && exec cairn -chdir="$0" "$@"`, d.stack}, args...)
}

func (d *fullDisk) run(args ...string) (output string, err error) {
	cmd := testenv.Command(d.t, "unshare", d.arguments(args...)...)
	cmd.Env = append(os.Environ(), d.env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	return b.String(), err
}

// fillWhileApplied fills the disk when the first component is being applied, and lets that go on.
func (d *fullDisk) fillWhileApplied(withReserve bool) {
	deadline := time.After(time.Minute)
	for {
		if _, err := os.Stat(d.gate + ".reached"); err == nil {
			break
		}
		select {
		case <-deadline:
			d.t.Error("the apply does not begin")
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	if !withReserve {
		reserves, err := filepath.Glob(filepath.Join(d.stack, ".*.reserve-*"))
		if err != nil || len(reserves) != 1 {
			d.t.Errorf("reserves: %v, %v", reserves, err)
		}
		for _, reserve := range reserves {
			if err := os.Remove(reserve); err != nil {
				d.t.Error(err)
			}
		}
	}
	filler, err := os.Create(filepath.Join(d.disk, "filler"))
	if err != nil {
		d.t.Error(err)
		return
	}
	for err == nil {
		_, err = filler.Write(bytes.Repeat([]byte{1}, 4096))
	}
	if err := errors.Join(filler.Close(), os.WriteFile(d.gate, nil, 0o600)); err != nil {
		d.t.Error(err)
	}
}

func (d *fullDisk) free() {
	d.t.Helper()
	mustNot(d.t, os.Remove(filepath.Join(d.disk, "filler")))
}

// checkComplete fails unless the rest is applied and nothing is made twice.
func (d *fullDisk) checkComplete() {
	d.t.Helper()
	output, err := d.run("apply", "-auto-approve")
	if err != nil || !strings.Contains(output, "Resources: 1 added, 0 changed, 0 destroyed") {
		d.t.Errorf("apply with space: %v\n%s", err, output)
	}
	if output, err := d.run("plan", "-detailed-exitcode"); err != nil {
		d.t.Errorf("plan after it: %v\n%s", err, output)
	}
}

func contain(t *testing.T, output string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(output, want) {
			t.Errorf("the output does not have %q:\n%s", want, output)
		}
	}
	if strings.Contains(output, "hunter2") {
		t.Errorf("a secret is printed:\n%s", output)
	}
}

// The reserved space is enough to save the changes made; nothing more is begun.
func TestFullDiskReserve(t *testing.T) {
	d := newFullDisk(t)
	go d.fillWhileApplied(true)
	output, err := d.run("apply", "-auto-approve")
	if err == nil {
		t.Error("exit code 0")
	}
	contain(t, output, "Disk full", "All completed changes are saved", "Resources: 1 added, 0 changed, 0 destroyed")
	if strings.Contains(output, "State not saved") {
		t.Errorf("the state is said not to be saved:\n%s", output)
	}
	d.free()
	list, err := d.run("state", "list")
	if err != nil || strings.Contains(list, "terraform_data") {
		t.Errorf("state list: %v\n%s", err, list)
	}
	d.checkComplete()
}

// Where there is nobody to ask, nothing is printed that logs must not have. The working directory
// has everything.
func TestFullDiskWithoutTerminal(t *testing.T) {
	d := newFullDisk(t)
	go d.fillWhileApplied(false)
	output, err := d.run("apply", "-auto-approve")
	if err == nil {
		t.Error("exit code 0")
	}
	contain(t, output, "State not saved", "State only in working directory",
		"the changes to component.slow are recorded in the directory .cairn/runs")
	if strings.Contains(output, "BEGIN") || strings.Contains(output, "State lost") {
		t.Errorf("the state is printed, or said to be lost:\n%s", output)
	}
	d.free()
	d.checkComplete()
}

// On a terminal a person decides.
func TestFullDiskOnTerminal(t *testing.T) {
	size := pty.Winsize{Rows: 60, Cols: 200}
	start := func(t *testing.T, d *fullDisk, more ...string) *terminal {
		go d.fillWhileApplied(false)
		term := startProgramOnTerminal(t, size, d.env, "unshare", d.arguments(append([]string{"apply", "-auto-approve"}, more...)...)...)
		return term
	}
	const question = "Enter a value:"

	t.Run("space is freed", func(t *testing.T) {
		d := newFullDisk(t)
		term := start(t, d)
		term.waitFor(question)
		d.free()
		term.typeText("\n")
		if code := term.end(); code != 1 {
			t.Errorf("exit code %d", code)
		}
		contain(t, term.written(), "State saved late")
		d.checkComplete()
	})

	t.Run("another directory", func(t *testing.T) {
		testenv.SkipUnderRace(t, "waits as the first one does")
		d := newFullDisk(t)
		elsewhere := t.TempDir()
		term := start(t, d)
		term.waitFor(question)
		term.typeText(os.DevNull + "\n")
		term.waitUntil("it asks again", func() bool { return strings.Count(term.written(), question) == 2 })
		term.typeText(elsewhere + "\n")
		if code := term.end(); code != 1 {
			t.Errorf("exit code %d", code)
		}
		contain(t, term.written(), "State not saved", filepath.Join(elsewhere, deployment.RescueFile))
		d.free()
		d.checkPush(filepath.Join(elsewhere, deployment.RescueFile))
	})

	for name, answered := range map[string]bool{"printed": true, "printed without asking": false} {
		t.Run(name, func(t *testing.T) {
			testenv.SkipUnderRace(t, "waits as the first one does")
			d := newFullDisk(t)
			var term *terminal
			if answered {
				term = start(t, d)
				term.waitFor(question)
				term.typeText("print\n")
			} else {
				term = start(t, d, "-input=false")
			}
			if code := term.end(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			contain(t, term.written(), "State not saved", "is printed above")
			printed := regexp.MustCompile(`(?s)-----BEGIN CAIRN STATE-----.*-----END CAIRN STATE-----`).FindString(term.written())
			file := filepath.Join(t.TempDir(), "copied")
			if err := os.WriteFile(file, []byte("copied with this\r\n"+printed+"\r\nand that"), 0o600); err != nil {
				t.Fatal(err)
			}
			d.free()
			cut := file + ".cut"
			lines := strings.Split(printed, "\n")
			if err := os.WriteFile(cut, []byte(strings.Join(slices.Delete(lines, 1, 2), "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			if output, err := d.run("state", "push", cut); err == nil || !strings.Contains(output, "Not a whole state") {
				t.Errorf("pushing half of a state: %v\n%s", err, output)
			}
			d.checkPush(file)
		})
	}
}

// checkPush fails unless the state in a file is the one that could not be saved.
func (d *fullDisk) checkPush(file string) {
	d.t.Helper()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		d.t.Errorf("%s: %v, %v", file, info, err)
	}
	if output, err := d.run("state", "push", file); err != nil {
		d.t.Errorf("state push: %v\n%s", err, output)
	}
	mustNot(d.t, os.RemoveAll(filepath.Join(d.stack, env.WorkDir, "runs"))) // which has it, too
	d.checkComplete()
}

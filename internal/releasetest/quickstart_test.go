// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// readmeStack returns the commands of the first stack in the README: those that write its files,
// and those of cairn, in their order.
func readmeStack(t *testing.T) (files string, commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```sh\nmkdir -p hello")
	if !ok {
		t.Fatal("README.md does not begin a stack by mkdir")
	}
	block, _, _ = strings.Cut("mkdir -p hello"+block, "```")
	files, rest, ok := strings.Cut(block, "\ncairn ")
	if !ok {
		t.Fatal("README.md runs no command of cairn")
	}
	for line := range strings.Lines("cairn " + rest) {
		line, _, _ = strings.Cut(line, "#")
		commands = append(commands, strings.TrimSpace(line))
	}
	return files, commands
}

// firstStack has somebody who has just installed a program do what the README says, in a directory
// of their own. The program gets no environment at all: no PATH, no HOME.
func firstStack(t *testing.T, program string) {
	t.Helper()
	files, commands := readmeStack(t)
	dir := t.TempDir()
	write := exec.CommandContext(t.Context(), "sh", "-ec", files)
	write.Dir = dir
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkCommands(t, commands, func(args []string) (string, error) {
		if args[0] == "ui" {
			return lookAtPage(t, program, filepath.Join(dir, "hello")), nil
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = filepath.Join(dir, "hello"), []string{}
		cmd.Stdin = strings.NewReader("yes\n")
		out, err := cmd.CombinedOutput()
		return string(out), err
	})
}

const uiCommand = "cairn ui"

// lookAtPage serves the page, and returns what a browser gets from the address that is shown.
func lookAtPage(t *testing.T, program, dir string) string {
	t.Helper()
	serve := exec.CommandContext(t.Context(), program, "ui")
	serve.Dir, serve.Env = dir, []string{}
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("cairn ui shows no address: %v", err)
	}
	jar, err := cookiejar.New(nil) // for the cookie that takes the place of the token
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSpace(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Jar: jar}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close(), serve.Process.Signal(os.Interrupt), serve.Wait()); err != nil {
		t.Fatalf("cairn ui: %v", err)
	}
	return string(page)
}

// checkCommands runs the commands of the README and looks at their output.
func checkCommands(t *testing.T, commands []string, run func(args []string) (string, error)) {
	t.Helper()
	want := map[string][]string{
		"cairn plan -out=hello.plan": {
			"# terraform_data.vpc will be created", `+ input  = (known after apply)`,
			"Plan: 2 to add, 0 to change, 0 to destroy in 2 components.", " is saved in hello.plan.",
		},
		"cairn apply hello.plan": {"component.app: Applied", "Apply complete! Resources: 2 added, 0 changed, 0 destroyed."},
		"cairn state list": {
			"component.app\ncomponent.app.terraform_data.server\ncomponent.network\ncomponent.network.terraform_data.vpc\n",
		},
		uiCommand:       {"<title>Overview", `<td class="number">2</td>`},
		"cairn destroy": {"Plan: 0 to add, 0 to change, 2 to destroy", "Destroy complete! Resources: 2 destroyed."},
	}
	for command := range want {
		if command != uiCommand && !slices.Contains(commands, command) {
			t.Errorf("README.md does not have %q any more, but has %q", command, commands)
		}
	}
	for _, command := range commands {
		out, err := run(strings.Fields(command)[1:])
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		texts, known := want[command]
		if !known {
			t.Errorf("nothing is expected of %q in README.md", command)
		}
		for _, text := range texts {
			if !strings.Contains(out, text) {
				t.Errorf("%s does not show %q:\n%s", command, text, out)
			}
		}
	}
}

// The archive has all that belongs to the program, which needs no library, knows its origin and
// runs the commands of the README.
func TestArchive(t *testing.T) {
	r := theRelease(t)
	dir := t.TempDir()
	unpack(t, r.read(t, r.archive()), dir)
	program := filepath.Join(dir, "cairn")
	for _, name := range []string{
		"LICENSE", "LICENSES.txt", "README.md", "completions/cairn.bash", "completions/cairn.fish", "completions/cairn.zsh",
		"man/cairn.1", "man/cairn-state-list.1",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 300 {
			t.Errorf("%s is not in the archive: %v", name, err)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, "version").Output()
	if want := "cairn v" + r.version + " on " + runtime.GOOS; err != nil || !bytes.HasPrefix(out, []byte(want)) {
		t.Errorf("cairn version shows %q, not %q: %v", out, want, err)
	}
	if !bytes.Contains(out, []byte("\ncommit "+r.commit+" of 20")) {
		t.Errorf("cairn version does not show the commit %s:\n%s", r.commit, out)
	}
	if runtime.GOOS == "linux" {
		wantStatic(t, program)
	}
	firstStack(t, program)
}

// wantStatic checks that a program of Linux needs no dynamic linker.
func wantStatic(t *testing.T, program string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			t.Errorf("%s needs a dynamic linker", program)
		}
	}
}

// Each command has a man page, which the cask installs by name.
func TestCaskHasAllPages(t *testing.T) {
	r := theRelease(t)
	dir := t.TempDir()
	unpack(t, r.read(t, r.archive()), dir)
	config, err := os.ReadFile(filepath.Join(repository, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil || len(pages) < 50 {
		t.Fatalf("the archive has %d man pages: %v", len(pages), err)
	}
	for _, page := range pages {
		if line := "      - man/" + filepath.Base(page) + "\n"; !strings.Contains(string(config), line) {
			t.Errorf(".goreleaser.yaml lacks in manpages: %s", strings.TrimSpace(line))
		}
	}
	if listed := strings.Count(string(config), "\n      - man/"); listed != len(pages) {
		t.Errorf(".goreleaser.yaml lists %d man pages, and there are %d", listed, len(pages))
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package cli

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
)

var (
	plantedSensitive = []string{sensitiveVariable, sensitiveObject, sensitiveProvider, sensitiveSchema, sensitiveModule, sensitiveOutput}
	plantedEphemeral = []string{ephemeralToken, ephemeralBlock, ephemeralWritten, ephemeralLatched, ephemeralResource}
	plantedAll       = slices.Concat(plantedSensitive, plantedEphemeral)
)

// planted is a stack with secrets in it, and the places where secrets may be or were shown.
type planted struct {
	t     *testing.T
	home  string // of the user, with everything else below
	dir   string // of the stack
	calls string // log of the provider's calls, outside of home
	env   []string

	written  map[string]bool // files that the test has written
	holders  map[string]bool // files that must hold sensitive values
	revealed map[string]bool // secrets that were shown on demand
}

func plant(t *testing.T, enginePath string) *planted {
	t.Helper()
	p := &planted{
		t: t, home: t.TempDir(), calls: filepath.Join(t.TempDir(), "calls"),
		written: map[string]bool{}, holders: map[string]bool{}, revealed: map[string]bool{},
	}
	p.dir = filepath.Join(p.home, "stack")
	temp := filepath.Join(p.home, "tmp")
	files := txtar.Parse([]byte(plantedStack)).Files
	files = append(files,
		txtar.File{Name: "secret.tfvars", Data: fmt.Appendf(nil, "settings = { open = \"o\", closed = %s }\n", jsonString(sensitiveObject))},
		txtar.File{
			Name: "broken/broken.tfvars",
			Data: fmt.Appendf(nil, "number = 1\nkeys = { a = 1 }\ntoken = [%s]\n", jsonString(ephemeralToken)),
		},
		txtar.File{
			Name: "broken/wrong.tfvars",
			Data: fmt.Appendf(nil,
				"number = %[1]s\nkeys = { %[1]s = \"x\" }\ntoken = { a = %[2]s }\n", jsonString(sensitiveVariable), jsonString(ephemeralToken)),
		},
		txtar.File{
			Name: "broken/wrong.tfvars.json",
			Data: fmt.Appendf(nil, "{\"number\": %[1]s, \"keys\": { %[1]s: \"x\" }, \"token\": { \"a\": %[2]s }}\n", jsonString(sensitiveVariable),
				jsonString(ephemeralToken)),
		},
		txtar.File{Name: "broken/syntax.tfvars", Data: fmt.Appendf(nil, "number = %s 2\n", jsonString(sensitiveVariable))},
		txtar.File{Name: "broken/syntax.tfvars.json", Data: fmt.Appendf(nil, "{\"number\": %s 2}\n", jsonString(sensitiveVariable))},
	)
	for _, file := range files {
		data := turnedBackwards(file.Data)
		path := filepath.Join(p.dir, filepath.FromSlash(file.Name))
		p.must(os.MkdirAll(filepath.Dir(path), 0o755))
		p.must(os.WriteFile(path, data, 0o600))
		p.written[path] = true
	}
	p.must(os.Mkdir(temp, 0o700))
	p.env = append(os.Environ(),
		"HOME="+p.home, "TMPDIR="+temp, "CHECKPOINT_DISABLE=1", "CAIRN_ENGINE="+enginePath,
		"TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t)),
		"CAIRN_LOG=debug", "CAIRN_LOG_PATH="+filepath.Join(p.home, "cairn.log"),
		testprovider.CallsVariable+"="+p.calls,
		"TF_VAR_password="+sensitiveVariable, "CAIRN_VAR_provider_secret="+sensitiveProvider,
		"TF_VAR_token="+ephemeralToken, "CAIRN_VAR_block="+ephemeralBlock, "TF_VAR_written="+ephemeralWritten,
		"CAIRN_VAR_latched="+ephemeralLatched,
		"CAIRN_VAR_number="+sensitiveVariable, `TF_VAR_keys={ "`+sensitiveModule+`" = [] }`,
	)
	return p
}

// turnedBackwards writes the text in backwards(…) backwards.
func turnedBackwards(text []byte) []byte {
	backwards := regexp.MustCompile(`backwards\(([^)]*)\)`)
	return backwards.ReplaceAllFunc(text, func(found []byte) []byte {
		turned := []byte(backwards.FindStringSubmatch(string(found))[1])
		slices.Reverse(turned)
		return turned
	})
}

func (p *planted) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *planted) command(args []string) *exec.Cmd {
	if slices.Contains([]string{"plan", "apply", "destroy"}, args[0]) && !slices.Contains(args, "p") {
		args = append(args, "-var-file=secret.tfvars")
	}
	cmd := testenv.Command(p.t, "cairn", args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// start starts a command that will be killed.
func (p *planted) start(name string, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := p.command(args)
	out, err := os.Create(filepath.Join(p.t.TempDir(), "output"))
	p.must(err)
	p.t.Cleanup(func() {
		content, err := os.ReadFile(out.Name())
		p.must(err)
		p.find("output of "+name, content, plantedAll)
		p.must(out.Close())
	})
	cmd.Stdout, cmd.Stderr = out, out
	p.must(cmd.Start())
	return cmd
}

// execute runs a command, and looks for ephemeral values in everything that it left.
func (p *planted) execute(name string, args []string) (stdout []byte, err error) {
	p.t.Helper()
	cmd := p.command(args)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	p.find("standard error of "+name, errOut.Bytes(), plantedAll)
	p.find("standard output of "+name, out.Bytes(), plantedEphemeral)
	if err != nil {
		err = fmt.Errorf("%w\n%s\n%s", err, out.String(), errOut.String())
	}
	return out.Bytes(), err
}

// run runs a command that must succeed and show nothing.
func (p *planted) run(name string, args ...string) {
	p.t.Helper()
	out, err := p.execute(name, args)
	if err != nil {
		p.t.Fatalf("%s: %s", name, err)
	}
	p.find("standard output of "+name, out, plantedSensitive)
	for _, arg := range args {
		if plan, ok := strings.CutPrefix(arg, "-out="); ok {
			p.holders[filepath.Join(p.dir, plan)] = true
		}
	}
	p.checkFiles(name)
}

// fails runs a command that must fail and show nothing.
func (p *planted) fails(name string, args ...string) {
	p.t.Helper()
	out, err := p.execute(name, args)
	p.find("standard output of "+name, out, plantedSensitive)
	if err == nil {
		p.t.Errorf("%s succeeded", name)
	}
	p.checkFiles(name)
}

// reveals runs a command whose task it is to show sensitive values.
func (p *planted) reveals(name string, args ...string) {
	p.t.Helper()
	out, err := p.execute(name, args)
	if err != nil {
		p.t.Fatalf("%s: %s", name, err)
	}
	for _, secret := range plantedSensitive {
		if holds(out, secret) {
			p.revealed[secret] = true
		}
	}
	p.checkFiles(name)
}

// mayHold says that a file is there for keeping secrets, and does so.
func (p *planted) mayHold(name string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.holders[path], p.holders[path+"-wal"] = true, true
	info, err := os.Stat(path)
	p.must(err)
	if info.Mode().Perm() != 0o600 {
		p.t.Errorf("%s has mode %o, want 600", name, info.Mode().Perm())
	}
	content, err := os.ReadFile(path)
	p.must(err)
	if !slices.ContainsFunc(unpacked(content), func(part []byte) bool { return holds(part, sensitiveVariable) }) {
		p.t.Errorf("%s does not have the value that it is made to keep", name)
	}
}

// checkFiles looks for secrets in all files after a command.
func (p *planted) checkFiles(after string) {
	p.t.Helper()
	p.eachFile(func(path string, content []byte) {
		secrets := plantedAll
		if p.holders[path] || path == filepath.Join(p.dir, "cairn.state.db") {
			secrets = plantedEphemeral
		}
		for _, part := range unpacked(content) {
			p.find(path+" after "+after, part, secrets)
		}
	})
}

// checkRunningFiles looks for secrets in files while an engine runs, or after its program was
// killed. Sensitive values may be in files of the working directory that only their owner can read.
func (p *planted) checkRunningFiles() {
	p.t.Helper()
	p.eachFile(func(path string, content []byte) {
		info, err := os.Stat(path)
		if err != nil {
			return
		}
		secrets := plantedAll
		if info.Mode().Perm()&0o077 == 0 {
			secrets = nil
			if runtime.GOOS == "linux" {
				secrets = plantedEphemeral
			}
		}
		for _, part := range unpacked(content) {
			p.find(path+" while it runs", part, secrets)
		}
	})
}

// eachFile calls do for each file below the home directory that the test has not written.
func (p *planted) eachFile(do func(path string, content []byte)) {
	p.t.Helper()
	p.must(filepath.WalkDir(p.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || p.written[path] {
			return nil //nolint:nilerr // removed meanwhile
		}
		content, err := os.ReadFile(path)
		if err == nil {
			do(path, content)
		}
		return nil
	}))
}

// find reports the secrets that some bytes hold.
func (p *planted) find(where string, content []byte, secrets []string) {
	p.t.Helper()
	for _, secret := range secrets {
		if holds(content, secret) {
			p.t.Errorf("%s: found %q%s", where, secret, surroundings(content, secret))
		}
	}
}

// surroundings are the bytes around a secret.
func surroundings(content []byte, secret string) string {
	at := bytes.Index(content, []byte(core(secret)))
	if at < 0 {
		return ", encoded"
	}
	return fmt.Sprintf(" in …%q…", content[max(0, at-80):min(len(content), at+80)])
}

// core is the part of a secret that no way of quoting changes.
func core(secret string) string {
	return regexp.MustCompile(`[0-9A-Za-z]{8}`).FindString(strings.NewReplacer("&", " ", "-", " ").Replace(secret)[6:])
}

// holds reports whether some bytes have a secret in them: as it is, as JSON or in a URL, or as
// Base64 at any place.
func holds(content []byte, secret string) bool {
	forms := []string{core(secret), url.QueryEscape(secret), strings.Trim(jsonString(secret), `"`)}
	for shift := range 3 {
		// Only the middle does not depend on the text before and after it.
		padded := append(make([]byte, shift), secret...)
		encoded := base64.RawStdEncoding.EncodeToString(padded)
		middle := encoded[4:]
		if whole := len(padded) / 3 * 4; whole < len(encoded) {
			middle = encoded[4:whole]
		}
		forms = append(forms, middle, strings.NewReplacer("+", "-", "/", "_").Replace(middle))
	}
	return slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(content, []byte(form)) })
}

func jsonString(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// unpacked returns the content of a file, and that of all members if it is an archive.
func unpacked(content []byte) [][]byte {
	parts := [][]byte{content}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return parts
	}
	for _, member := range archive.File {
		reader, err := member.Open()
		if err != nil {
			continue
		}
		inner, err := io.ReadAll(reader)
		if err == nil {
			parts = append(parts, unpacked(inner)...)
		}
	}
	return parts
}

func waitUntilExists(t *testing.T, path string) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s did not appear within a minute", path)
		case <-tick.C:
		}
	}
}

// enginePIDs are the processes that are recorded in the working directory and still run.
func (p *planted) enginePIDs() []int {
	p.t.Helper()
	records, err := filepath.Glob(filepath.Join(p.dir, ".cairn", "runs", "*", "run.json"))
	p.must(err)
	var pids []int
	for _, record := range records {
		var run struct {
			PID      int  `json:"pid"`
			ExitCode *int `json:"exit_code"`
		}
		content, err := os.ReadFile(record)
		p.must(err)
		p.must(json.Unmarshal(content, &run))
		if run.ExitCode == nil {
			pids = append(pids, run.PID)
		}
	}
	if len(pids) == 0 {
		p.t.Fatal("no process of the engine is recorded")
	}
	return pids
}

// globProcesses returns the directories of all processes.
func globProcesses(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := strconv.Atoi(filepath.Base(dir))
		return err != nil
	})
}

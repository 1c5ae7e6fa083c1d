// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

// script answers commands: the first entry whose key begins the command line counts.
type script struct {
	answers map[string]Output
	log     []string
	without string // the program that there is none of
}

func (s *script) Has(program string) bool { return program != s.without }

func (s *script) Run(_ context.Context, command Command) (Output, error) {
	line := strings.Join(command.Args, " ")
	s.log = append(s.log, line)
	for _, length := range []int{1000, 3, 2, 1} {
		words := command.Args[:min(len(command.Args), length)]
		if output, ok := s.answers[strings.Join(words, " ")]; ok {
			return output, nil
		}
	}
	return Output{}, nil
}

// compile makes calls of an SLS file.
func compile(t *testing.T, src string) *lowdata.Low {
	t.Helper()
	files := fstest.MapFS{"s.sls": &fstest.MapFile{Data: []byte(src)}}
	high, diags := lowdata.Load(files, []string{"s"}, lowdata.LoadOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	low, diags := lowdata.Compile(high, lowdata.CompileOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return low
}

// apply makes the calls of an SLS file; they must pass the check.
func apply(t *testing.T, host *Host, src string, test bool) []lowdata.Result {
	t.Helper()
	low := compile(t, src)
	if diags := host.Check(low.Calls); len(diags) > 0 {
		t.Fatal(diags)
	}
	return low.Run(t.Context(), lowdata.RunOptions{Functions: host, Test: test})
}

// one makes the only call of an SLS file and compares its status.
func one(t *testing.T, host *Host, src string, test bool, want lowdata.Status) lowdata.Result {
	t.Helper()
	results := apply(t, host, src, test)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	if results[0].Status != want {
		t.Fatalf("status %s, want %s (%s)", results[0].Status, want, results[0].Comment)
	}
	return results[0]
}

func changes(t *testing.T, result lowdata.Result) string {
	t.Helper()
	if result.Changes == nil {
		return "{}"
	}
	text, err := result.Changes.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantChanges(t *testing.T, result lowdata.Result, want string) {
	t.Helper()
	if got := changes(t, result); got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFileManaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "etc", "motd")
	host := &Host{Files: fstest.MapFS{"web/motd": &fstest.MapFile{Data: []byte("from source\n")}}}
	state := func(args string) string { return fmt.Sprintf("%s:\n  file.managed: [%s]\n", path, args) }

	one(t, host, state("contents: a"), false, lowdata.Failed) // without the directory
	one(t, host, state("contents: a, makedirs: true"), true, lowdata.Changed)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Fatalf("test mode has made something: %v", err)
	}
	made := one(t, host, state("contents: [a, b], makedirs: true, mode: 0600"), false, lowdata.Changed)
	if got := content(t, path); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
	if text, ok := made.Changes.Get("diff").(string); !ok || !strings.Contains(text, "--- /dev/null\n") || !strings.Contains(text, "+a\n+b\n") {
		t.Errorf("diff %v", made.Changes.Get("diff"))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	one(t, host, state("contents: [a, b], mode: 600"), false, lowdata.OK)

	wouldChange := one(t, host, state("source: salt://web/motd"), true, lowdata.Changed)
	if text, ok := wouldChange.Changes.Get("diff").(string); !ok || !strings.Contains(text, "-a\n-b\n+from source\n") {
		t.Errorf("diff %v", wouldChange.Changes.Get("diff"))
	}
	if got := content(t, path); got != "a\nb\n" {
		t.Errorf("test mode has written %q", got)
	}
	one(t, host, state("source: web/motd"), false, lowdata.Changed)
	if got := content(t, path); got != "from source\n" {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want that of the old file", info.Mode(), err)
	}
	wantChanges(t, one(t, host, state(`source: web/motd, mode: "0644"`), false, lowdata.Changed), `{"mode":"0644"}`)
	wantChanges(t, one(t, host, state("contents: secret, show_changes: false"), false, lowdata.Changed), `{"diff":"not shown (show_changes is false)"}`)
	one(t, host, state("contents: other, replace: false"), false, lowdata.OK)
	one(t, host, state("contents: x, contents_newline: false"), false, lowdata.Changed)
	if got := content(t, path); got != "x" {
		t.Errorf("got %q", got)
	}
	one(t, host, state("source: web/none"), false, lowdata.Failed)
	one(t, host, state("user: no-such-user-here"), false, lowdata.Failed)

	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	one(t, host, fmt.Sprintf("%s: {file.managed: [contents: linked]}", link), false, lowdata.Changed)
	if got := content(t, path); got != "linked\n" {
		t.Errorf("a link was not followed: %q", got)
	}
	one(t, host, fmt.Sprintf("%s: {file.managed: []}", dir), false, lowdata.Failed)
	left, err := filepath.Glob(filepath.Join(dir, "*", ".cairn-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %s", left)
	}
}

func TestFileOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "f")
	src := fmt.Sprintf("%s: {file.managed: [contents: x, user: 4321, group: 4322, mode: 2755]}", path)
	one(t, &Host{}, src, false, lowdata.Changed)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ownerOf(info); got != (owner{4321, 4322}) || octal(info.Mode()) != "2755" {
		t.Errorf("got %v %s", got, octal(info.Mode()))
	}
	one(t, &Host{}, src, false, lowdata.OK)
	wantChanges(t, one(t, &Host{}, strings.Replace(src, "4321", "root", 1), false, lowdata.Changed), `{"user":"root"}`)
}

func TestFileAbsent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	src := dir + ": {file.absent: []}"
	one(t, &Host{}, src, true, lowdata.Changed)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("test mode has removed something: %v", err)
	}
	one(t, &Host{}, src, false, lowdata.Changed)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	one(t, &Host{}, src, false, lowdata.OK)
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	touched := filepath.Join(dir, "touched")
	host := &Host{}
	one(t, host, fmt.Sprintf("touch %s: {cmd.run: []}", touched), true, lowdata.Changed)
	if _, err := os.Stat(touched); !os.IsNotExist(err) {
		t.Fatalf("test mode has run the command: %v", err)
	}
	result := one(t, host, fmt.Sprintf("x: {cmd.run: [{name: 'pwd; echo $WORD >&2; cat'}, {cwd: %s}, {env: [{WORD: hello}]}, {stdin: in}]}", dir), false, lowdata.Changed)
	wantChanges(t, result, fmt.Sprintf(`{"retcode":0,"stdout":"%s\nin","stderr":"hello\n"}`, dir))
	result = one(t, host, "x: {cmd.run: [{name: 'echo why >&2; exit 3'}]}", false, lowdata.Failed)
	if want := "The command ended with exit code 3:\nwhy"; result.Comment != want {
		t.Errorf("comment %q, want %q", result.Comment, want)
	}
	wantChanges(t, one(t, host, "x: {cmd.run: [{name: 'echo secret'}, {hide_output: true}]}", false, lowdata.Changed), `{"retcode":0,"stdout":"","stderr":""}`)
	for args, want := range map[string]lowdata.Status{
		"unless: 'true'":                                  lowdata.OK,
		"unless: 'false'":                                 lowdata.Changed,
		"unless: ['true','false']":                        lowdata.Changed,
		"onlyif: 'true'":                                  lowdata.Changed,
		"onlyif: ['true','false']":                        lowdata.OK,
		"creates: /":                                      lowdata.OK,
		"creates: [/, " + touched + "]":                   lowdata.Changed,
		"onlyif: 'test $V = 1', env: {V: 1}":              lowdata.Changed,
		"onlyif: 'test -e none', cwd: " + dir:             lowdata.OK,
		"shell: /bin/false":                               lowdata.Failed,
		"cwd: " + filepath.Join(dir, "none"):              lowdata.Failed,
		"unless: 'true', onlyif: 'true', creates: /nope/": lowdata.OK,
	} {
		t.Run(args, func(t *testing.T) {
			list := "{" + strings.ReplaceAll(args, "', ", "'}, {") + "}"
			one(t, host, "'true': {cmd.run: ["+list+"]}", false, want)
		})
	}
	t.Run("cmd.wait", func(t *testing.T) {
		src := "a: {cmd.wait: [{name: touch %s}, {watch: [b]}]}\nb: {test.%s: []}\n"
		apply(t, host, fmt.Sprintf(src, touched, "nop"), false)
		if _, err := os.Stat(touched); !os.IsNotExist(err) {
			t.Fatalf("it was run though nothing has changed: %v", err)
		}
		apply(t, host, fmt.Sprintf(src, touched, "succeed_with_changes"), false)
		if _, err := os.Stat(touched); err != nil {
			t.Errorf("it was not run: %v", err)
		}
	})
}

// TestCommandsThatDoNotEnd are ended with all that they have started, also if they ignore signals.
func TestCommandsThatDoNotEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	started := time.Now()
	result := one(t, &Host{}, "x: {cmd.run: [{name: 'trap \"\" TERM INT; sleep 100 & wait; sleep 100'}, {timeout: 0.2}]}", false, lowdata.Failed)
	if want := "The command was ended: after 0.2 seconds it was still running."; result.Comment != want {
		t.Errorf("comment %q, want %q", result.Comment, want)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestPackages(t *testing.T) {
	query := func(name string) string {
		return `dpkg-query --show --showformat ${db:Status-Status}\t${Version}\n ` + name
	}
	installed := map[string]Output{
		query("vim"):  {Stdout: "installed\t2:9.0\n"},
		query("curl"): {Code: 1, Stderr: "no packages found"},
		query("old"):  {Stdout: "config-files\t1.0\n"},
	}
	install := "apt-get -q -y -o DPkg::Options::=--force-confold -o DPkg::Options::=--force-confdef --allow-downgrades install -- "
	tests := map[string]struct {
		src     string
		test    bool
		status  lowdata.Status
		changes string
		apt     []string
	}{
		"there":              {"vim: {pkg.installed: []}", false, lowdata.OK, "{}", nil},
		"there in a version": {"x: {pkg.installed: [{name: vim}, {version: '2:9.0'}]}", false, lowdata.OK, "{}", nil},
		"another version, in test mode": {
			"vim: {pkg.installed: [{version: '2:9.1'}]}", true, lowdata.Changed, `{"vim":{"old":"2:9.0","new":"2:9.1"}}`, nil,
		},
		"missing, in test mode": {"curl: {pkg.installed: []}", true, lowdata.Changed, `{"curl":{"old":"","new":"the newest version"}}`, nil},
		"removed but for its configuration": {
			"old: {pkg.installed: []}", true, lowdata.Changed, `{"old":{"old":"","new":"the newest version"}}`, nil,
		},
		"not there after it": {"curl: {pkg.installed: []}", false, lowdata.Failed, "{}", []string{install + "curl"}},
		"several, with fresh lists": {
			"x: {pkg.installed: [{pkgs: [vim, curl: '8.1-1']}, {refresh: true}]}", false, lowdata.Failed, "{}",
			[]string{"apt-get -q update", install + "curl=8.1-1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			runner := &script{answers: installed}
			result := one(t, &Host{Runner: runner}, test.src, test.test, test.status)
			wantChanges(t, result, test.changes)
			apt := slices.DeleteFunc(runner.log, func(line string) bool { return strings.HasPrefix(line, "dpkg-query") })
			if !slices.Equal(apt, test.apt) {
				t.Errorf("commands %q, want %q", apt, test.apt)
			}
		})
	}
	t.Run("installed", func(t *testing.T) {
		runner := &installing{}
		result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", false, lowdata.Changed)
		wantChanges(t, result, `{"curl":{"old":"","new":"8.1"}}`)
	})
	t.Run("apt-get fails", func(t *testing.T) {
		runner := &script{answers: map[string]Output{"apt-get": {Code: 100, Stderr: "E: Unable to locate package curl"}}}
		if result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", false, lowdata.Failed); !strings.Contains(result.Comment, "exit code 100:\nE: Unable to locate") {
			t.Errorf("comment %q", result.Comment)
		}
	})
	t.Run("not on this system", func(t *testing.T) {
		result := one(t, &Host{Runner: &script{without: "dpkg-query"}}, "curl: {pkg.installed: []}", false, lowdata.Failed)
		if !strings.Contains(result.Comment, "there is no dpkg-query here") {
			t.Errorf("comment %q", result.Comment)
		}
	})
}

// installing is a machine on which apt-get works.
type installing struct{ done bool }

func (i *installing) Has(string) bool { return true }

func (i *installing) Run(_ context.Context, command Command) (Output, error) {
	switch {
	case command.Args[0] == "apt-get":
		i.done = true
	case !i.done:
		return Output{Code: 1}, nil
	default:
		return Output{Stdout: "installed\t8.1\n"}, nil
	}
	return Output{}, nil
}

func TestServices(t *testing.T) {
	systemd, sysv := func() bool { return true }, func() bool { return false }
	const stopped = 3
	tests := map[string]struct {
		src     string
		answers map[string]Output
		systemd func() bool
		test    bool
		want    string // statuses
		log     []string
	}{
		"running": {
			src: "httpd: {service.running: []}", systemd: systemd, want: "ok", log: []string{"systemctl is-active --quiet httpd"},
		},
		"does not start": {
			src: "httpd: {service.running: []}", systemd: systemd, want: "failed",
			answers: map[string]Output{"systemctl is-active --quiet httpd": {Code: stopped}},
			log:     []string{"systemctl is-active --quiet httpd", "systemctl start httpd", "systemctl is-active --quiet httpd"},
		},
		"stopped, in test mode": {
			src: "httpd: {service.running: []}", systemd: systemd, test: true, want: "changed",
			answers: map[string]Output{"systemctl is-active --quiet httpd": {Code: stopped}}, log: []string{"systemctl is-active --quiet httpd"},
		},
		"not enabled": {
			src: "httpd: {service.running: [{enable: true}]}", systemd: systemd, want: "changed",
			answers: map[string]Output{"systemctl is-enabled --quiet httpd": {Code: 1}},
			log: []string{
				"systemctl is-enabled --quiet httpd", "systemctl is-active --quiet httpd", "systemctl enable httpd", "systemctl is-active --quiet httpd",
			},
		},
		"restarted for what it watches": {
			src: "httpd: {service.running: [{watch: [c]}]}\nc: {test.succeed_with_changes: []}", systemd: systemd, want: "changed, changed",
			log: []string{"systemctl is-active --quiet httpd", "systemctl restart httpd"},
		},
		"reloaded for what it watches": {
			src: "httpd: {service.running: [{watch: [c]}, {reload: true}]}\nc: {test.succeed_with_changes: []}", systemd: systemd, want: "changed, changed",
			log: []string{"systemctl is-active --quiet httpd", "systemctl reload httpd"},
		},
		"would be restarted": {
			src: "httpd: {service.running: [{watch: [c]}]}\nc: {test.succeed_with_changes: []}", systemd: systemd, test: true, want: "changed, changed",
			log: []string{"systemctl is-active --quiet httpd"},
		},
		"without systemd": {
			src: "httpd: {service.running: [{watch: [c]}]}\nc: {test.succeed_with_changes: []}", systemd: sysv, want: "changed, changed",
			log: []string{"service httpd status", "service httpd restart"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			runner := &script{answers: test.answers}
			var statuses []string
			for _, result := range apply(t, &Host{Runner: runner, Systemd: test.systemd}, test.src, test.test) {
				statuses = append(statuses, result.Status.String())
			}
			if got := strings.Join(statuses, ", "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if !slices.Equal(runner.log, test.log) {
				t.Errorf("commands %q, want %q", runner.log, test.log)
			}
		})
	}
}

func TestPretended(t *testing.T) {
	tests := map[string]lowdata.Status{
		"test.nop: [anything: 1]":                                           lowdata.OK,
		"test.succeed_without_changes: []":                                  lowdata.OK,
		"test.succeed_with_changes: []":                                     lowdata.Changed,
		"test.fail_without_changes: []":                                     lowdata.Failed,
		"test.fail_with_changes: []":                                        lowdata.Failed,
		"test.configurable_test_state: []":                                  lowdata.Changed,
		"test.configurable_test_state: [{changes: false}]":                  lowdata.OK,
		"test.configurable_test_state: [{changes: false}, {result: false}]": lowdata.Failed,
		"test.show_notification: [text: hello]":                             lowdata.OK,
	}
	for state, want := range tests {
		t.Run(state, func(t *testing.T) { one(t, &Host{}, "x: {"+state+"}", false, want) })
	}
	if result := one(t, &Host{}, "x: {test.show_notification: [text: hello]}", false, lowdata.OK); result.Comment != "hello" {
		t.Errorf("comment %q", result.Comment)
	}
}

func program(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "my.echo", `read line; printf '{"result": true, "changes": {"read": %s}, "comment": "done"}' "$line"`)
	program(t, dir, "my.would", `echo '{"result": null, "comment": "would"}'`)
	program(t, dir, "my.no", `echo '{"result": false, "changes": {}, "comment": "no"}'`)
	program(t, dir, "my.crash", `echo broken >&2; exit 7`)
	program(t, dir, "my.noise", `echo hello`)
	program(t, dir, "my.more", `echo '{"result": true} {}'`)
	program(t, dir, "my.flood", `yes | head -c 3000000`)
	program(t, dir, "my.mod_watch", `echo '{"result": true, "changes": {"reacted": true}}'`)
	program(t, dir, "pkg.installed", `echo '{"result": true, "comment": "mine"}'`)
	host := &Host{Folder: dir}

	result := one(t, host, "x: {my.echo: [{word: yes}, {list: [1, b]}, {unless: 'false'}]}", false, lowdata.Changed)
	wantChanges(t, result, `{"read":{"function":"my.echo","id":"x","sls":"s","name":"x","args":{"word":true,"list":[1,"b"]},"test":false}}`)
	one(t, host, "x: {my.would: []}", true, lowdata.Changed)
	for state, want := range map[string]string{
		"my.would": "\"result\" must be true or false", "my.no": "no", "my.crash": "exit code 7:\nbroken", "my.noise": "not one JSON object",
		"my.more": "something follows", "my.flood": "not one JSON object",
	} {
		if result := one(t, host, "x: {"+state+": []}", false, lowdata.Failed); !strings.Contains(result.Comment, want) {
			t.Errorf("%s: comment %q, want %q in it", state, result.Comment, want)
		}
	}
	results := apply(t, host, "x: {my.echo: [{watch: [y]}]}\ny: {test.succeed_with_changes: []}", false)
	if got := results[1].Changes.Get("reacted"); got != true {
		t.Errorf("the reaction is missing: %v", results[1])
	}
	if result := one(t, host, "curl: {pkg.installed: [anything: 1]}", false, lowdata.OK); result.Comment != "mine" {
		t.Errorf("the program of the user does not come first: %q", result.Comment)
	}
}

func TestChecks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ state, want string }{
		"unknown function":      {"cmd.rum: []", "order/unknown-ref 1:5 Unknown function"},
		"unknown argument":      {"file.managed: [{name: /x}, {template: jinja}]", "order/unknown-key 1:43 Unknown argument"},
		"wrong type":            {"file.managed: [{name: /x}, {makedirs: 3}]", "order/syntax 1:43 Wrong type of argument"},
		"wrong condition":       {"test.nop: [{unless: [{a: b}]}]", "order/syntax 1:25 Wrong type of argument"},
		"endless timeout":       {"cmd.run: [{timeout: -1}]", "order/syntax 1:25 Wrong type of argument"},
		"version as a number":   {"pkg.installed: [{version: 1.10}]", "order/syntax 1:31 Wrong type of argument"},
		"relative path":         {"file.managed: [{name: x}]", "order/syntax 1:5 Call that cannot be made"},
		"traversal":             {"file.managed: [{name: /x}, {source: 'salt://../secret'}]", "order/syntax 1:5 Call that cannot be made"},
		"traversal inside":      {"file.managed: [{name: /x}, {source: a/../../secret}]", "order/syntax 1:5 Call that cannot be made"},
		"absolute source":       {"file.managed: [{name: /x}, {source: /etc/passwd}]", "order/syntax 1:5 Call that cannot be made"},
		"source elsewhere":      {"file.managed: [{name: /x}, {source: 'https://example.com/x'}]", "order/syntax 1:5 Call that cannot be made"},
		"both sources":          {"file.managed: [{name: /x}, {source: a}, {contents: b}]", "order/syntax 1:5 Call that cannot be made"},
		"mode in letters":       {"file.managed: [{name: /x}, {mode: u=rw}]", "order/syntax 1:5 Call that cannot be made"},
		"removal of everything": {"file.absent: [{name: /x/..}]", "order/syntax 1:5 Call that cannot be made"},
		"option as a package":   {"pkg.installed: [{name: --purge}]", "order/syntax 1:5 Call that cannot be made"},
		"pattern as a version":  {"pkg.installed: [{version: '>=1'}]", "order/syntax 1:5 Call that cannot be made"},
		"option as a service":   {"service.running: [{name: --force}]", "order/syntax 1:5 Call that cannot be made"},
		"chance":                {"test.configurable_test_state: [{result: Random}]", "order/syntax 1:5 Call that cannot be made"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diags := (&Host{}).Check(compile(t, "x: {"+test.state+"}").Calls)
			if len(diags) != 1 {
				t.Fatalf("%d problems, want 1: %v", len(diags), diags)
			}
			got := fmt.Sprintf("%s %s %s", order.CodeOf(diags[0]), start(diags[0].Subject), diags[0].Summary)
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	t.Run("link out of the root", func(t *testing.T) {
		root := t.TempDir()
		if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "link")); err != nil {
			t.Fatal(err)
		}
		opened, err := os.OpenRoot(root)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := opened.Close(); err != nil {
				t.Error(err)
			}
		})
		target := filepath.Join(root, "target")
		one(t, &Host{Files: opened.FS()}, fmt.Sprintf("%s: {file.managed: [source: link]}", target), false, lowdata.Failed)
		if _, err := os.Stat(target); !os.IsNotExist(err) {
			t.Errorf("something was written: %v", err)
		}
	})
}

func start(r *hcl.Range) string { return fmt.Sprintf("%d:%d", r.Start.Line, r.Start.Column) }

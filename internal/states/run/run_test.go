// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// script answers commands: the first entry whose key begins the command line counts.
type script struct {
	answers map[string]Output
	log     []string
	without string // the program that there is none of

	lacks   string // of all commands
	refuses error
}

func (s *script) Lacks(Command) (string, error) { return s.lacks, s.refuses }

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
func compileText(t *testing.T, src string) *compile.Low {
	t.Helper()
	files := fstest.MapFS{"s.sls": &fstest.MapFile{Data: []byte(src)}}
	high, diags := compile.Load(files, []string{"s"}, compile.LoadOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	low, diags := compile.Compile(high, compile.CompileOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return low
}

// apply makes the calls of an SLS file; they must pass the check.
func apply(t *testing.T, host *Host, src string, test bool) []schedule.Result {
	t.Helper()
	low := compileText(t, src)
	if diags := host.Check(low.Calls); len(diags) > 0 {
		t.Fatal(diags)
	}
	return schedule.Run(t.Context(), low, schedule.Options{Functions: host, Test: test})
}

// one makes the only call of an SLS file and compares its status.
func one(t *testing.T, host *Host, src string, test bool, want schedule.Status) schedule.Result {
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

func changes(t *testing.T, result schedule.Result) string {
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

func wantChanges(t *testing.T, result schedule.Result, want string) {
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

	one(t, host, state("contents: a"), false, schedule.Failed) // without the directory
	one(t, host, state("contents: a, makedirs: true"), true, schedule.Changed)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Fatalf("test mode has made something: %v", err)
	}
	made := one(t, host, state("contents: [a, b], makedirs: true, mode: 0600"), false, schedule.Changed)
	if got := content(t, path); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
	if text, ok := made.Changes.Get("diff").(string); !ok || !strings.Contains(text, "--- /dev/null\n") ||
		!strings.Contains(text, "+a\n+b\n") {
		t.Errorf("diff %v", made.Changes.Get("diff"))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	one(t, host, state("contents: [a, b], mode: 600"), false, schedule.OK)

	wouldChange := one(t, host, state("source: salt://web/motd"), true, schedule.Changed)
	if text, ok := wouldChange.Changes.Get("diff").(string); !ok || !strings.Contains(text, "-a\n-b\n+from source\n") {
		t.Errorf("diff %v", wouldChange.Changes.Get("diff"))
	}
	if got := content(t, path); got != "a\nb\n" {
		t.Errorf("test mode has written %q", got)
	}
	one(t, host, state("source: web/motd"), false, schedule.Changed)
	if got := content(t, path); got != "from source\n" {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want that of the old file", info.Mode(), err)
	}
	wantChanges(t, one(t, host, state(`source: web/motd, mode: "0644"`), false, schedule.Changed), `{"mode":"0644"}`)
	wantChanges(t, one(t, host, state("contents: secret, show_changes: false"), false, schedule.Changed),
		`{"diff":"not shown (show_changes is false)"}`)
	one(t, host, state("contents: other, replace: false"), false, schedule.OK)
	one(t, host, state("contents: x, contents_newline: false"), false, schedule.Changed)
	if got := content(t, path); got != "x" {
		t.Errorf("got %q", got)
	}
	one(t, host, state("source: web/none"), false, schedule.Failed)
	one(t, host, state("user: no-such-user-here"), false, schedule.Failed)

	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	one(t, host, fmt.Sprintf("%s: {file.managed: [contents: linked]}", link), false, schedule.Changed)
	if got := content(t, path); got != "linked\n" {
		t.Errorf("a link was not followed: %q", got)
	}
	one(t, host, fmt.Sprintf("%s: {file.managed: []}", dir), false, schedule.Failed)
	left, err := filepath.Glob(filepath.Join(dir, "*", ".cairn-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %s", left)
	}
}

func TestFileAbsent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	src := dir + ": {file.absent: []}"
	one(t, &Host{}, src, true, schedule.Changed)
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("test mode has removed something: %v", err)
	}
	one(t, &Host{}, src, false, schedule.Changed)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	one(t, &Host{}, src, false, schedule.OK)
}

func TestPackages(t *testing.T) {
	query := func(name string) string {
		return `dpkg-query --show --showformat ${db:Status-Status}\t${Version}\n ` + name
	}
	installed := map[string]Output{
		query("vim"):                {Stdout: "installed\t2:9.0\n"},
		query("curl"):               {Code: 1, Stderr: "no packages found"},
		query("old"):                {Stdout: "config-files\t1.0\n"},
		query("emacs"):              {Stdout: "installed\t29.0\n"},
		"apt-cache policy -- vim":   {Stdout: "vim:\n  Installed: 2:9.0\n  Candidate: 2:9.0\n  Version table:\n"},
		"apt-cache policy -- emacs": {Stdout: "emacs:\n  Installed: 29.0\n  Candidate: 29.1\n  Version table:\n"},
		"apt-cache policy -- curl":  {Stdout: "curl:\n  Installed: (none)\n  Candidate: (none)\n"},
	}
	const (
		update  = "apt-get -q update"
		apt     = "apt-get -q -y -o DPkg::Lock::Timeout=300 -o DPkg::Options::=--force-confold -o DPkg::Options::=--force-confdef "
		install = apt + "--allow-downgrades install -- "

		unchanged = "-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "
		simulate  = "apt-get -s -q -y -o Debug::NoLocking=1 -o Dir::Log::Planner=/dev/null " + unchanged
		policy    = "apt-cache " + unchanged + "policy -- "
	)
	installed[simulate+"--allow-downgrades install -- old"] = Output{
		Stdout: "Reading package lists...\nRemv vim [2:9.0]\nInst base [1.0] (1.1 Debian:12/stable [amd64])\n" +
			"Inst old (1.2 Debian:12/stable [amd64])\nConf old (1.2 Debian)\n",
	}
	installed[simulate+"remove -- vim"] = Output{Stdout: "Remv plugin [3] [vim ]\nRemv vim [2:9.0]\n"}
	installed[policy+"vim"], installed[policy+"emacs"] = installed["apt-cache policy -- vim"], installed["apt-cache policy -- emacs"]
	tests := map[string]struct {
		src     string
		test    bool
		status  schedule.Status
		changes string
		apt     []string
	}{
		"there":              {"vim: {pkg.installed: []}", false, schedule.OK, "{}", nil},
		"there in a version": {"x: {pkg.installed: [{name: vim}, {version: '2:9.0'}]}", false, schedule.OK, "{}", nil},
		"another version, in test mode": {
			"vim: {pkg.installed: [{version: '2:9.1'}]}", true, schedule.Changed, `{"vim":{"old":"2:9.0","new":"2:9.1"}}`,
			[]string{simulate + "--allow-downgrades install -- vim=2:9.1"},
		},
		"missing, in test mode": {
			"curl: {pkg.installed: []}", true, schedule.Changed, `{"curl":{"old":"","new":"the newest version"}}`,
			[]string{simulate + "--allow-downgrades install -- curl"},
		},
		"removed but for its configuration": {
			"old: {pkg.installed: []}", true, schedule.Changed,
			`{"old":{"old":"","new":"1.2"},"vim":{"old":"2:9.0","new":""},"base":{"old":"1.0","new":"1.1"}}`,
			[]string{simulate + "--allow-downgrades install -- old"},
		},
		"not there after it": {"curl: {pkg.installed: []}", false, schedule.Failed, "{}", []string{update, install + "curl"}},
		"without what is recommended": {
			"curl: {pkg.installed: [{install_recommends: false}, {refresh: false}]}", false, schedule.Failed, "{}",
			[]string{apt + "--allow-downgrades --no-install-recommends install -- curl"},
		},
		"without fresh lists": {"curl: {pkg.installed: [refresh: false]}", false, schedule.Failed, "{}", []string{install + "curl"}},
		"several, with fresh lists": {
			"x: {pkg.installed: [{pkgs: [vim, curl: '8.1-1']}, {refresh: true}]}", false, schedule.Failed, "{}",
			[]string{update, install + "curl=8.1-1"},
		},
		"the newest is there": {"vim: {pkg.latest: []}", false, schedule.OK, "{}", []string{update, "apt-cache policy -- vim"}},
		"a newer one, in test mode": {
			"x: {pkg.latest: [{pkgs: [vim, emacs]}]}", true, schedule.Changed, `{"emacs":{"old":"29.0","new":"29.1"}}`,
			[]string{policy + "vim", policy + "emacs", simulate + "--allow-downgrades install -- emacs=29.1"},
		},
		"a newer one": {
			"emacs: {pkg.latest: []}", false, schedule.Changed, `{"emacs":{"old":"29.0","new":"29.0"}}`,
			[]string{update, "apt-cache policy -- emacs", install + "emacs=29.1"},
		},
		"of no version":      {"curl: {pkg.latest: []}", false, schedule.Failed, "{}", []string{update, "apt-cache policy -- curl"}},
		"not there, removed": {"curl: {pkg.removed: []}", false, schedule.OK, "{}", nil},
		"removed, in test mode": {
			"vim: {pkg.removed: []}", true, schedule.Changed, `{"vim":{"old":"2:9.0","new":""},"plugin":{"old":"3","new":""}}`,
			[]string{simulate + "remove -- vim"},
		},
		"removed": {
			"x: {pkg.removed: [{pkgs: [vim, curl, old]}]}", false, schedule.Changed, `{"vim":{"old":"2:9.0","new":""}}`,
			[]string{apt + "remove -- vim"},
		},
		"purged": {
			"x: {pkg.purged: [{pkgs: [vim, curl, old]}]}", false, schedule.Changed,
			`{"vim":{"old":"2:9.0","new":""},"old":{"old":"1.0","new":""}}`,
			[]string{apt + "purge -- vim old"},
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
		result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", false, schedule.Changed)
		wantChanges(t, result, `{"curl":{"old":"","new":"8.1"},"libcurl":{"old":"","new":"2"}}`)
	})
	t.Run("apt-get fails", func(t *testing.T) {
		runner := &script{answers: map[string]Output{"apt-get": {Code: 100, Stderr: "E: Unable to locate package curl"}}}
		result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", false, schedule.Failed)
		if !strings.Contains(result.Comment, "exit code 100:\nE: Unable to locate") {
			t.Errorf("comment %q", result.Comment)
		}
	})
	t.Run("lists are fetched once in a run", func(t *testing.T) {
		runner := &installing{}
		apply(t, &Host{Runner: runner},
			"curl: {pkg.installed: []}\nwget: {pkg.installed: [version: 8.0.1]}\nzip: {pkg.installed: [{version: 8.0.2}, {refresh: true}]}", false)
		if got := strings.Join(runner.log, ", "); got != "update, install, install, update, install" { //nolint:dupword // three installations
			t.Errorf("apt-get was run as %s", got)
		}
	})
	t.Run("lists cannot be fetched", func(t *testing.T) {
		offline := Output{Code: 100, Stderr: "E: no network"}
		runner := &script{answers: map[string]Output{"apt-get": offline}}
		result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", false, schedule.Failed)
		if !strings.Contains(result.Comment,
			"Not all lists of packages could be fetched:\nthe command \"apt-get -q update\" ended with exit code 100") {
			t.Errorf("comment %q", result.Comment)
		}
		host := &Host{Runner: &installing{offline: true}}
		one(t, host, "curl: {pkg.installed: []}", false, schedule.Changed) // lists fetched before are enough
		one(t, host, "wget: {pkg.installed: [{version: 8.0.1}, {refresh: true}]}", false, schedule.Failed)
	})
	t.Run("some lists cannot be fetched, which is not a failure of apt-get", func(t *testing.T) {
		runner := &script{answers: maps.Clone(installed)}
		runner.answers["apt-get -q update"] = Output{
			Stdout: "Ign:1 x\n",
			Stderr: "W: Failed to fetch x\nmore\nW: Some index files failed to download.\n",
		}
		want := "\nNot all lists of packages could be fetched:\nW: Failed to fetch x\nW: Some index files failed to download."
		for src, status := range map[string]schedule.Status{"vim: {pkg.latest: []}": schedule.OK, "curl: {pkg.latest: []}": schedule.Failed} {
			if result := one(t, &Host{Runner: runner}, src, false, status); !strings.Contains(result.Comment, want) {
				t.Errorf("%s: comment %q, want %q in it", src, result.Comment, want)
			}
		}
	})
	t.Run("refused, in test mode", func(t *testing.T) {
		refused := Output{Code: 100, Stderr: "E: Unable to locate package curl"}
		runner := &script{answers: map[string]Output{"apt-get": refused}}
		result := one(t, &Host{Runner: runner}, "curl: {pkg.installed: []}", true, schedule.Changed)
		if want := "as things are now, apt-get would refuse it:\nE: Unable to locate package curl"; !strings.Contains(result.Comment, want) {
			t.Errorf("comment %q, want %q in it", result.Comment, want)
		}
	})
	t.Run("waiting for others too long", func(t *testing.T) {
		result := one(t, &Host{Runner: waiting{}}, "curl: {pkg.installed: [{refresh: false}, {timeout: 0.01}]}", false, schedule.Failed)
		const want = "for it took longer than the \"timeout\" of the call:\nWaiting for cache lock: held by process 12"
		if !strings.Contains(result.Comment, want) {
			t.Errorf("comment %q, want %q in it", result.Comment, want)
		}
	})
	t.Run("ended between two steps, which is a success for apt-get", func(t *testing.T) {
		result := one(t, &Host{Runner: waiting{ended: true}},
			"curl: {pkg.installed: [{refresh: false}, {timeout: 0.01}]}", false, schedule.Failed)
		if want := "after 0.01 seconds it was still running. The next run can go on"; !strings.Contains(result.Comment, want) {
			t.Errorf("comment %q, want %q in it", result.Comment, want)
		}
	})
	t.Run("not on this system", func(t *testing.T) {
		result := one(t, &Host{Runner: &script{without: "dpkg-query"}}, "curl: {pkg.installed: []}", false, schedule.Failed)
		if !strings.Contains(result.Comment, "there is no dpkg-query here") {
			t.Errorf("comment %q", result.Comment)
		}
	})
}

// waiting is a machine on which something else changes packages, or apt-get has ended well when it
// is asked to.
type waiting struct{ ended bool }

func (waiting) Has(string) bool { return true }

func (waiting) Lacks(Command) (string, error) { return "", nil }

func (w waiting) Run(ctx context.Context, command Command) (Output, error) {
	if command.Args[0] != "apt-get" {
		return Output{}, ctx.Err()
	}
	select {
	case <-ctx.Done():
	case <-time.After(testenv.Patience):
		return Output{}, errors.New("the command is not ended")
	}
	if w.ended {
		return Output{}, nil
	}
	return Output{Code: -1, Stdout: "Waiting for cache lock: held by process 12\n"}, context.Cause(ctx)
}

// installing is a machine on which apt-get works.
type installing struct {
	done, offline bool
	log           []string // the requests to apt-get
}

func (i *installing) Has(string) bool { return true }

func (i *installing) Lacks(Command) (string, error) { return "", nil }

func (i *installing) Run(_ context.Context, command Command) (Output, error) {
	switch {
	case slices.Contains(command.Args, "update"):
		i.log = append(i.log, "update")
		if i.offline {
			return Output{Code: 100, Stderr: "E: no network"}, nil
		}
	case command.Args[0] == "apt-get":
		i.log = append(i.log, "install")
		i.done = true
	case !i.done:
		return Output{Code: 1}, nil
	case len(command.Args) == 4: // all packages
		return Output{Stdout: "installed\t8.1\tcurl\ninstalled\t2\tlibcurl\nconfig-files\t1\told\n"}, nil
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
			answers: map[string]Output{"systemctl is-active --quiet httpd": {Code: stopped}},
			log:     []string{"systemctl is-active --quiet httpd", "systemctl show --property=LoadState httpd"},
		},
		"not enabled": {
			src: "httpd: {service.running: [{enable: true}]}", systemd: systemd, want: "changed",
			answers: map[string]Output{"systemctl is-enabled httpd": {Code: 1}},
			log: []string{
				"systemctl is-enabled httpd", "systemctl is-active --quiet httpd", "systemctl enable httpd", "systemctl is-active --quiet httpd",
			},
		},
		"restarted for what it watches": {
			src: "httpd: {service.running: [{watch: [c]}]}\nc: {test.succeed_with_changes: []}", systemd: systemd, want: "changed, changed",
			log: []string{"systemctl is-active --quiet httpd", "systemctl restart httpd"},
		},
		"reloaded for what it watches": {
			src:     "httpd: {service.running: [{watch: [c]}, {reload: true}]}\nc: {test.succeed_with_changes: []}",
			systemd: systemd,
			want:    "changed, changed",
			log:     []string{"systemctl is-active --quiet httpd", "systemctl reload httpd"},
		},
		"would be restarted": {
			src:     "httpd: {service.running: [{watch: [c]}]}\nc: {test.succeed_with_changes: []}",
			systemd: systemd,
			test:    true,
			want:    "changed, changed",
			log:     []string{"systemctl is-active --quiet httpd"},
		},
		"stopped": {
			src: "httpd: {service.dead: []}", systemd: systemd, want: "ok",
			answers: map[string]Output{"systemctl is-active --quiet httpd": {Code: stopped}}, log: []string{"systemctl is-active --quiet httpd"},
		},
		"does not stop": {
			src: "httpd: {service.dead: [enable: false]}", systemd: systemd, want: "failed",
			log: []string{
				"systemctl is-enabled httpd", "systemctl is-active --quiet httpd", "systemctl disable httpd", "systemctl stop httpd",
				"systemctl is-active --quiet httpd",
			},
		},
		"enabled": {
			src: "httpd: {service.enabled: []}", systemd: systemd, want: "ok", log: []string{"systemctl is-enabled httpd"},
		},
		"to be enabled": {
			src:     "httpd: {service.enabled: []}",
			systemd: systemd,
			want:    "changed",
			answers: map[string]Output{"systemctl is-enabled httpd": {Code: 1}},
			log:     []string{"systemctl is-enabled httpd", "systemctl enable httpd"},
		},
		"to be disabled": {
			src: "httpd: {service.disabled: []}", systemd: systemd, want: "changed",
			log: []string{"systemctl is-enabled httpd", "systemctl disable httpd"},
		},
		"to be disabled, started by others": {
			src: "httpd: {service.disabled: []}", systemd: systemd, want: "ok",
			answers: map[string]Output{"systemctl is-enabled httpd": {Stdout: "static\n"}}, log: []string{"systemctl is-enabled httpd"},
		},
		"to be enabled, started by others": {
			src: "httpd: {service.running: [{enable: true}]}", systemd: systemd, want: "ok",
			answers: map[string]Output{"systemctl is-enabled httpd": {Stdout: "static\n"}},
			log:     []string{"systemctl is-enabled httpd", "systemctl is-active --quiet httpd"},
		},
		"to be disabled, in test mode": {
			src: "httpd: {service.disabled: []}", systemd: systemd, test: true, want: "changed",
			log: []string{"systemctl is-enabled httpd", "systemctl show --property=LoadState httpd"},
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

// TestMissingServices: that there is no such service is said, and is not a failure in test mode,
// since another call may bring it.
func TestMissingServices(t *testing.T) {
	stopped := map[string]Output{
		"systemctl is-active --quiet":                    {Code: 4},
		"systemctl is-enabled":                           {Code: 1},
		"systemctl show --property=LoadState no-such-1":  {Stdout: "LoadState=not-found\n"},
		"systemctl show --property=LoadState there-is-1": {Stdout: "LoadState=loaded\n"},
		"systemctl start":                                {Code: 5, Stderr: "Failed to start."},
		"service no-such-1 status":                       {Code: 1},
		"service no-such-1 start":                        {Code: 1, Stderr: "no-such-1: unrecognized service"},
		"update-rc.d no-such-1":                          {Code: 1},
		"systemctl enable no-such-1":                     {Code: 1},
	}
	const (
		systemd = "\nSystemd has no service no-such-1."
		sysv    = "\nThere is no script /etc/init.d/no-such-1, and systemd, which may have a service of this name, does not run here."
	)
	for _, test := range []struct {
		state, name   string
		booted, test  bool
		status        schedule.Status
		comment, last string
	}{
		{"running", "no-such-1", true, false, schedule.Failed, "exit code 5:\nFailed to start.", systemd},
		{"running", "there-is-1", true, false, schedule.Failed, "exit code 5:\nFailed to start.", ""},
		{"running", "no-such-1", false, false, schedule.Failed, "exit code 1:\nno-such-1: unrecognized service.", sysv},
		{"running", "no-such-1", true, true, schedule.Changed, "The service no-such-1 would be changed.", systemd},
		{"running", "no-such-1", false, true, schedule.Changed, "The service no-such-1 would be changed.", sysv},
		{"enabled", "no-such-1", true, false, schedule.Failed, "ended with exit code 1.", systemd},
		{"enabled", "no-such-1", false, true, schedule.Changed, "The service no-such-1 would be enabled.", sysv},
	} {
		host := &Host{Runner: &script{answers: stopped}, Systemd: func() bool { return test.booted }}
		result := one(t, host, test.name+": {service."+test.state+": []}", test.test, test.status)
		want := strings.TrimSpace(strings.ReplaceAll(test.comment+test.last, "\n", " "))
		if got := strings.ReplaceAll(result.Comment, "\n", " "); !strings.HasSuffix(got, want) {
			t.Errorf("%+v: comment %q, want %q at its end", test, got, want)
		}
	}
}

func TestPretended(t *testing.T) {
	tests := map[string]schedule.Status{
		"test.nop: [anything: 1]":                                           schedule.OK,
		"test.succeed_without_changes: []":                                  schedule.OK,
		"test.succeed_with_changes: []":                                     schedule.Changed,
		"test.fail_without_changes: []":                                     schedule.Failed,
		"test.fail_with_changes: []":                                        schedule.Failed,
		"test.configurable_test_state: []":                                  schedule.Changed,
		"test.configurable_test_state: [{changes: false}]":                  schedule.OK,
		"test.configurable_test_state: [{changes: false}, {result: false}]": schedule.Failed,
		"test.show_notification: [text: hello]":                             schedule.OK,
	}
	for state, want := range tests {
		t.Run(state, func(t *testing.T) { one(t, &Host{}, "x: {"+state+"}", false, want) })
	}
	if result := one(t, &Host{}, "x: {test.show_notification: [text: hello]}", false, schedule.OK); result.Comment != "hello" {
		t.Errorf("comment %q", result.Comment)
	}
}

func TestChecks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ state, want string }{
		"unknown function":      {"cmd.rum: []", "order/unknown-ref 1:5 Unknown function"},
		"unknown argument":      {"file.managed: [{name: /x}, {templates: jinja}]", "order/unknown-key 1:44 Unknown argument"},
		"unsupported argument":  {"file.managed: [{name: /x}, {template: jinja}]", "order/unknown-key 1:43 Unsupported argument"},
		"umask in letters":      {"cmd.run: [{umask: rwx}]", "order/syntax 1:23 Invalid call"},
		"state in words":        {"cmd.run: [{stateful: maybe}]", "order/syntax 1:26 Invalid argument type"},
		"state with more":       {"cmd.run: [{stateful: [{test: x}]}]", "order/syntax 1:26 Invalid argument type"},
		"exit code too large":   {"cmd.run: [{success_retcodes: [1, 256]}]", "order/syntax 1:34 Invalid argument type"},
		"wrong type":            {"file.managed: [{name: /x}, {makedirs: 3}]", "order/syntax 1:43 Invalid argument type"},
		"wrong condition":       {"test.nop: [{unless: [{a: b}]}]", "order/syntax 1:25 Invalid argument type"},
		"endless timeout":       {"cmd.run: [{timeout: -1}]", "order/syntax 1:25 Invalid argument type"},
		"version as a number":   {"pkg.installed: [{version: 1.10}]", "order/syntax 1:31 Invalid argument type"},
		"relative path":         {"file.managed: [{name: x}]", "order/syntax 1:27 Invalid call"},
		"traversal":             {"file.managed: [{name: /x}, {source: 'salt://../secret'}]", "order/syntax 1:41 Invalid call"},
		"traversal inside":      {"file.managed: [{name: /x}, {source: a/../../secret}]", "order/syntax 1:41 Invalid call"},
		"absolute source":       {"file.managed: [{name: /x}, {source: /etc/passwd}]", "order/syntax 1:41 Invalid call"},
		"source elsewhere":      {"file.managed: [{name: /x}, {source: 'https://example.com/x'}]", "order/syntax 1:41 Invalid call"},
		"both sources":          {"file.managed: [{name: /x}, {source: a}, {contents: b}]", "order/syntax 1:41 Invalid call"},
		"mode in letters":       {"file.managed: [{name: /x}, {mode: u=rw}]", "order/syntax 1:39 Invalid call"},
		"removal of everything": {"file.absent: [{name: /x/..}]", "order/syntax 1:26 Invalid call"},
		"option as a package":   {"pkg.installed: [{name: --purge}]", "order/syntax 1:28 Invalid call"},
		"pattern as a version":  {"pkg.installed: [{name: curl}, {version: '>=1'}]", "order/syntax 1:45 Invalid call"},
		"version to be removed": {"pkg.removed: [pkgs: [curl: '1']]", "order/syntax 1:25 Invalid call"},
		"script from outside":   {"cmd.script: [{source: ../x}]", "order/syntax 1:27 Invalid call"},
		"link to nowhere":       {"file.symlink: [{name: /x}]", "order/syntax 1:5 Invalid call"},
		"two modes":             {"file.directory: [{name: /x}, {mode: 700}, {dir_mode: 700}]", "order/syntax 1:58 Invalid call"},
		"relative directory":    {"file.directory: [{name: x}]", "order/syntax 1:29 Invalid call"},
		"backup with a path":    {"file.managed: [{name: /x}, {backup: ../x}]", "order/syntax 1:41 Invalid call"},
		"extension with a path": {"file.managed: [{name: /x}, {tmp_ext: /x}]", "order/syntax 1:42 Invalid call"},
		"mode of no source":     {"file.managed: [{name: /x}, {mode: keep}]", "order/syntax 1:39 Invalid call"},
		"option as a service":   {"service.running: [{name: --force}]", "order/syntax 1:30 Invalid call"},
		"chance":                {"test.configurable_test_state: [{result: Random}]", "order/syntax 1:45 Invalid call"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diags := (&Host{}).Check(compileText(t, "x: {"+test.state+"}").Calls)
			if len(diags) != 1 {
				t.Fatalf("%d problems, want 1: %v", len(diags), diags)
			}
			got := fmt.Sprintf("%s %s %s", problem.CodeOf(diags[0]), start(diags[0].Subject), diags[0].Summary)
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
		one(t, &Host{Files: opened.FS()}, fmt.Sprintf("%s: {file.managed: [source: link]}", target), false, schedule.Failed)
		if _, err := os.Stat(target); !os.IsNotExist(err) {
			t.Errorf("something was written: %v", err)
		}
	})
}

func start(r *hcl.Range) string { return fmt.Sprintf("%d:%d", r.Start.Line, r.Start.Column) }

func TestCommentOfTestFunctions(t *testing.T) {
	for function, status := range map[string]schedule.Status{
		"nop": schedule.OK, "succeed_without_changes": schedule.OK, "succeed_with_changes": schedule.Changed,
		"fail_without_changes": schedule.Failed, "fail_with_changes": schedule.Failed, "configurable_test_state": schedule.Changed,
	} {
		result := one(t, &Host{}, "x: {test."+function+": [{comment: As I say.}]}", false, status)
		if result.Comment != "As I say." {
			t.Errorf("test.%s: comment %q", function, result.Comment)
		}
	}
}

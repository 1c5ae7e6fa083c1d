// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// page is a page of releases on loopback.
type page struct {
	server *httptest.Server
	files  map[string][]byte // by path
	cut    string            // the path of a file of which only a part arrives

	asked struct {
		sync.Mutex
		paths []string
	}
}

func newPage(t *testing.T, r *release) *page {
	t.Helper()
	p := &page{files: map[string][]byte{}}
	sums := r.read(t, "checksums.txt")
	at := "/download/v" + r.version + "/"
	p.files["/latest/download/checksums.txt"] = sums
	p.files[at+"checksums.txt"] = sums
	p.files[at+"checksums.txt.sigstore.json"] = []byte(`{"of": "` + checksum(sums) + `"}`)
	p.files[at+r.archive()] = r.read(t, r.archive())
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

// ServeHTTP answers a request.
func (p *page) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	p.asked.Lock()
	p.asked.paths = append(p.asked.paths, request.URL.Path)
	p.asked.Unlock()
	content, ok := p.files[request.URL.Path]
	if !ok {
		http.NotFound(w, request)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if request.URL.Path == p.cut {
		content = content[:len(content)/2]
	}
	w.Write(content) //nolint:errcheck // whoever has gone does not see it
}

// fakeCosign believes the signature of the page, and notes its arguments.
const fakeCosign = `#!/bin/sh
echo "$@" >>"$(dirname "$0")/../cosign.args"
sum=$(sha256sum "$2" | cut -d ' ' -f 1)
grep -q "$sum" "$4" || { echo 'Error: no matching signatures' >&2; exit 1; }
`

// programs are all that install.sh needs.
var programs = []string{
	"basename", "cat", "chmod", "cp", "curl", "cut", "dirname", "grep", "gzip", "id", "mkdir", "mktemp", "mv", "rm", "sed", "sh",
	"sha256sum", "tar", "uname",
}

// machine is a machine on which somebody installs cairn.
type machine struct {
	t         *testing.T
	dir       string
	bin       string // the only directory with programs
	installed string // where cairn is installed
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{t: t, dir: dir, bin: filepath.Join(dir, "bin"), installed: filepath.Join(dir, "home", ".local")}
	for _, made := range []string{m.bin, filepath.Join(dir, "home"), filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range programs {
		m.link(program)
	}
	m.program("cosign", fakeCosign)
	return m
}

func (m *machine) link(program string) {
	m.t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(m.bin, program)); err != nil {
		m.t.Fatal(err)
	}
}

// program puts a script on PATH, in place of what was there.
func (m *machine) program(name, script string) {
	m.t.Helper()
	m.remove(name)
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte(script), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) remove(name string) {
	m.t.Helper()
	if err := os.RemoveAll(filepath.Join(m.bin, name)); err != nil {
		m.t.Fatal(err)
	}
}

// install runs install.sh, or another script, and returns its output and whether it has succeeded.
func (m *machine) install(p *page, script []byte, args ...string) (string, bool) {
	m.t.Helper()
	args = append([]string{"-s", "--", "--prefix", m.installed}, args...)
	cmd := exec.CommandContext(m.t.Context(), filepath.Join(m.bin, "sh"), args...)
	cmd.Dir = m.dir
	cmd.Stdin = bytes.NewReader(script) // as from curl
	cmd.Env = []string{
		"PATH=" + m.bin, "HOME=" + filepath.Join(m.dir, "home"), "TMPDIR=" + filepath.Join(m.dir, "tmp"), "CAIRN_RELEASES=" + p.server.URL,
	}
	out, err := cmd.CombinedOutput()
	if left, globErr := filepath.Glob(filepath.Join(m.dir, "tmp", "*")); globErr != nil || len(left) > 0 {
		m.t.Errorf("install.sh has left %q: %v", left, globErr)
	}
	return string(out), err == nil
}

func installScript(t *testing.T) []byte {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(repository, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// A user installs the newest release, and goes on with the first stack.
func TestInstall(t *testing.T) {
	r := theRelease(t)
	m := newMachine(t)
	out, ok := m.install(newPage(t, r), installScript(t))
	if !ok || !strings.Contains(out, "cairn "+r.version+" is in "+m.installed+"/bin.\nPut that on PATH.") {
		t.Fatalf("install.sh: success=%t\n%s", ok, out)
	}
	arguments, err := os.ReadFile(filepath.Join(m.dir, "cosign.args"))
	if err != nil {
		t.Fatal(err)
	}
	identity := "--certificate-identity https://github.com/cairnstacks/cairn/.github/workflows/release.yml@refs/tags/v" + r.version + " "
	if !strings.Contains(string(arguments), identity) {
		t.Errorf("the signature may be by anybody:\n%s", arguments)
	}
	for _, name := range []string{
		"share/man/man1/cairn.1", "share/man/man1/cairn-plan.1", "share/bash-completion/completions/cairn",
		"share/zsh/site-functions/_cairn", "share/fish/vendor_completions.d/cairn.fish", "share/doc/cairn/LICENSES.txt",
	} {
		if _, err := os.Stat(filepath.Join(m.installed, name)); err != nil {
			t.Error(err)
		}
	}
	firstStack(t, filepath.Join(m.installed, "bin", "cairn"))
}

// Other ways that lead to an installation.
func TestInstallOtherwise(t *testing.T) {
	r := theRelease(t)
	for name, test := range map[string]struct {
		prepare func(m *machine, p *page)
		args    []string
	}{
		"a version":         {args: []string{"--version", r.version}},
		"a tag":             {args: []string{"--version", "v" + r.version}},
		"without signature": {prepare: func(m *machine, _ *page) { m.remove("cosign") }, args: []string{"--no-verify-signature"}},
		"with wget": {prepare: func(m *machine, _ *page) {
			m.program("wget", "#!/bin/sh\nexec "+mustFind(m.t, "curl")+" --fail --silent --output \"$3\" \"$4\"\n")
			m.remove("curl")
		}},
		"with openssl": {prepare: func(m *machine, _ *page) {
			m.program("openssl", "#!/bin/sh\ntest \"$1 $2 $3\" = 'dgst -sha256 -r' && exec "+mustFind(m.t, "sha256sum")+" \"$4\"\n")
			m.remove("sha256sum")
			m.program("cosign", "#!/bin/sh\n")
		}},
		"again": {prepare: func(m *machine, p *page) {
			if out, ok := m.install(p, installScript(m.t)); !ok {
				m.t.Fatal(out)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, p := newMachine(t), newPage(t, r)
			if test.prepare != nil {
				test.prepare(m, p)
			}
			if out, ok := m.install(p, installScript(t), test.args...); !ok {
				t.Fatal(out)
			}
			if err := exec.CommandContext(t.Context(), filepath.Join(m.installed, "bin", "cairn"), "version").Run(); err != nil {
				t.Error(err)
			}
		})
	}
}

func mustFind(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever is wrong, nothing is installed, and the message says why.
func TestInstallRefuses(t *testing.T) {
	r := theRelease(t)
	at := "/download/v" + r.version + "/"
	uname := func(system, processor string) func(*machine, *page) {
		return func(m *machine, _ *page) {
			m.program("uname", "#!/bin/sh\ncase $1 in -s) echo "+system+" ;; -m) echo "+processor+" ;; esac\n")
		}
	}
	for name, test := range map[string]struct {
		prepare func(m *machine, p *page)
		args    []string
		script  func(whole []byte) []byte
		want    string
		silent  bool // asks nobody for anything
	}{
		"altered archive": {
			prepare: func(_ *machine, p *page) { p.files[at+r.archive()] = append(p.files[at+r.archive()], 0) },
			want:    "The checksum of " + r.archive() + " is ",
		},
		"altered checksums": {
			prepare: func(_ *machine, p *page) {
				altered := append([]byte(strings.Repeat("1", 64)+"  evil\n"), p.files["/latest/download/checksums.txt"]...)
				p.files["/latest/download/checksums.txt"] = altered
			},
			want: "The signature of checksums.txt is not that of the release v" + r.version,
		},
		"checksums and archive of others": {
			prepare: func(_ *machine, p *page) {
				archive := []byte("no archive")
				p.files[at+r.archive()] = archive
				p.files["/latest/download/checksums.txt"] = []byte(checksum(archive) + "  " + r.archive() + "\n" +
					checksum(archive) + "  cairn_" + r.version + "_linux_amd64.tar.gz\n")
			},
			want: "no matching signatures",
		},
		"no signature": {
			prepare: func(_ *machine, p *page) { delete(p.files, at+"checksums.txt.sigstore.json") },
			want:    "checksums.txt.sigstore.json could not be downloaded.",
		},
		"no cosign": {
			prepare: func(m *machine, _ *page) { m.remove("cosign") },
			want:    "There is no cosign, so the signature of the release cannot be verified. Nothing was installed.",
			silent:  true,
		},
		"altered archive without signature": {
			prepare: func(_ *machine, p *page) { p.files[at+r.archive()] = []byte("no archive") },
			args:    []string{"--no-verify-signature"},
			want:    "The checksum of " + r.archive() + " is ",
		},
		"broken download": {
			prepare: func(_ *machine, p *page) { p.cut = at + r.archive() },
			want:    r.archive() + " could not be downloaded.",
		},
		"broken download of checksums": {
			prepare: func(_ *machine, p *page) { p.cut = "/latest/download/checksums.txt" },
			want:    "checksums.txt could not be downloaded.",
		},
		"no such version": {args: []string{"--version", "99.0.0"}, want: "/download/v99.0.0/checksums.txt could not be downloaded."},
		"no version":      {args: []string{"--version", "../x"}, want: "../x is no version.", silent: true},
		"no checksums": {
			prepare: func(_ *machine, p *page) { p.files["/latest/download/checksums.txt"] = []byte("<html>\n") },
			want:    "no checksums that this script understands",
		},
		"no archive for a processor": {prepare: uname("Linux", "riscv64"), want: "has no archive for linux_riscv64. Nothing was installed."},
		"no archive for a system":    {prepare: uname("SunOS", "i86pc"), want: "There is no archive for SunOS", silent: true},
		"Windows":                    {prepare: uname("MINGW64_NT-10.0", "x86_64"), want: "unpack the zip archive", silent: true},
		"no directory": {
			prepare: func(m *machine, _ *page) {
				if err := os.WriteFile(m.installed, nil, 0o600); err != nil {
					m.t.Fatal(err)
				}
			},
			want: "/bin cannot be written. Nothing was installed.",
		},
		"an option":     {args: []string{"--sudo"}, want: "There is no option --sudo.", silent: true},
		"script cut":    {script: func(whole []byte) []byte { return whole[:len(whole)-len("main \"$@\"\n")] }, silent: true},
		"script halved": {script: func(whole []byte) []byte { return whole[:len(whole)/2] }, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, p := newMachine(t), newPage(t, r)
			if test.prepare != nil {
				test.prepare(m, p)
			}
			script := installScript(t)
			if test.script != nil {
				script = test.script(script)
			}
			out, ok := m.install(p, script, test.args...)
			if ok && test.want != "" || !strings.Contains(out, test.want) {
				t.Errorf("success=%t, want the message %q:\n%s", ok, test.want, out)
			}
			if _, err := os.Stat(filepath.Join(m.installed, "bin", "cairn")); err == nil {
				t.Error("cairn was installed")
			}
			if test.silent && len(p.asked.paths) > 0 {
				t.Errorf("it has asked for %q", p.asked.paths)
			}
		})
	}
}

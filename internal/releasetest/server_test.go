// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// unpackServer unpacks the archive of cairn-server for this machine.
func unpackServer(t *testing.T) (r *release, dir string) {
	t.Helper()
	r, dir = wholeRelease(t), t.TempDir()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	if !slices.Contains(serverPlatforms, platform) {
		t.Skipf("there is no cairn-server for %s", platform)
	}
	unpack(t, r.read(t, "cairn-server_"+r.version+"_"+platform+".tar.gz"), dir)
	return r, dir
}

// The archive of cairn-server has the licences of all that is linked, and a program that needs no
// library, knows its origin and serves.
func TestServerArchive(t *testing.T) {
	r, dir := unpackServer(t)
	program := filepath.Join(dir, "cairn-server")
	texts := map[string]string{}
	for _, name := range []string{"LICENSE", "LICENSES.txt", "README.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) < 300 {
			t.Fatalf("%s is not in the archive: %v", name, err)
		}
		texts[name] = string(text)
	}
	if !strings.HasPrefix(texts["README.md"], "# cairn-server\n") {
		t.Error("README.md is that of another program")
	}
	build, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range build.Deps {
		if line := "\n" + module.Path + " " + module.Version + "\n"; !strings.Contains(texts["LICENSES.txt"], line) {
			t.Errorf("LICENSES.txt does not name %s %s", module.Path, module.Version)
		}
	}
	shown := string(output(t, []string{program, "version"}))
	for _, want := range []string{"cairn-server v" + r.version + " (Temporal 1.", "\ncommit " + r.commit + " of 20"} {
		if !strings.Contains(shown, want) {
			t.Errorf("cairn-server version shows %q, without %q", shown, want)
		}
	}
	if runtime.GOOS == "linux" {
		wantStatic(t, program)
	}
	temporaltest.StartCommand(t, []string{program}, temporaltest.Memory).Stop(t)
}

// The image of cairn-server serves on a root that nobody can write to, and keeps its file in the
// directory that is mounted.
func TestServerImage(t *testing.T) {
	root, env := unpackImage(t, wholeRelease(t), "cairn-server")
	t.Run("read-only", func(t *testing.T) {
		testenv.Root(t)
		work := workDir(t)
		if err := os.Chown(work, 65532, 65532); err != nil {
			t.Fatal(err)
		}
		command := containerCommand(root, work, env, "/usr/bin/cairn-server")
		temporaltest.StartCommand(t, command, "/work/cairn-server.db").Stop(t)
		if _, err := os.Stat(filepath.Join(work, "cairn-server.db")); err != nil {
			t.Error(err)
		}
	})
}

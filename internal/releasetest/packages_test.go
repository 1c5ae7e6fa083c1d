// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// platforms are those of a release, serverPlatforms those of its cairn-server.
var (
	platforms       = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}
	serverPlatforms = []string{"darwin_arm64", "linux_amd64", "linux_arm64"}
)

// The list of checksums has all files of a release, and they are those.
func TestChecksums(t *testing.T) {
	r := wholeRelease(t)
	listed := map[string]string{}
	for line := range strings.Lines(string(r.read(t, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	var want []string
	for _, platform := range platforms {
		base := "cairn_" + r.version + "_" + platform
		kind := ".tar.gz"
		if strings.HasPrefix(platform, "windows") {
			kind = ".zip"
		}
		want = append(want, base+kind, base+".cdx.json")
		if strings.HasPrefix(platform, "linux") {
			want = append(want, base+".deb", base+".rpm")
		}
	}
	for _, platform := range serverPlatforms {
		base := "cairn-server_" + r.version + "_" + platform
		want = append(want, base+".tar.gz", base+".cdx.json")
	}
	for _, name := range want {
		if sum := checksum(r.read(t, name)); sum != listed[name] {
			t.Errorf("the checksum of %s is %s, and %q is listed", name, sum, listed[name])
		}
		delete(listed, name)
	}
	if len(listed) > 0 {
		t.Errorf("files that nobody expects: %v", listed)
	}
}

// The archives for Windows are those that it can unpack by itself.
func TestZip(t *testing.T) {
	r := wholeRelease(t)
	archive, err := zip.OpenReader(filepath.Join(r.dir, "cairn_"+r.version+"_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	for _, want := range []string{"cairn.exe", "LICENSE", "LICENSES.txt", "README.md", "completions/cairn.bash", "man/cairn.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
}

// Each list of modules has those that the program says it is made of, with their licences.
func TestSBOM(t *testing.T) {
	r := wholeRelease(t)
	var artifacts []struct{ Type, Path, Goos, Goarch string }
	if err := json.Unmarshal(r.read(t, "artifacts.json"), &artifacts); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, a := range artifacts {
		if a.Type != "Binary" {
			continue
		}
		checked++
		program, err := buildinfo.ReadFile(filepath.Join(filepath.Dir(r.dir), a.Path))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"std " + program.GoVersion}
		for _, dependency := range program.Deps {
			want = append(want, dependency.Path+" "+dependency.Version)
		}
		var document struct {
			BomFormat  string
			Components []struct {
				Name, Version string
				Licenses      []struct{ License struct{ ID, Name string } }
			}
		}
		name := fmt.Sprintf("%s_%s_%s_%s.cdx.json", strings.TrimSuffix(filepath.Base(a.Path), ".exe"), r.version, a.Goos, a.Goarch)
		if err := json.Unmarshal(r.read(t, name), &document); err != nil || document.BomFormat != "CycloneDX" {
			t.Fatalf("%s has the format %q: %v", name, document.BomFormat, err)
		}
		var got []string
		for _, c := range document.Components {
			got = append(got, c.Name+" "+c.Version)
			if len(c.Licenses) == 0 || c.Licenses[0].License.ID+c.Licenses[0].License.Name == "" {
				t.Errorf("%s: no licence of %s", name, c.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %q, and the program has %q", name, got, want)
		}
	}
	if want := len(platforms) + len(serverPlatforms); checked != want {
		t.Errorf("there are %d programs, want %d", checked, want)
	}
}

// Packages put everything where distributions look for it.
func TestPackages(t *testing.T) {
	r := wholeRelease(t)
	common := []string{
		"/usr/bin/cairn", "/usr/share/bash-completion/completions/cairn", "/usr/share/doc/cairn/LICENSES.txt", "/usr/share/doc/cairn/copyright",
		"/usr/share/fish/vendor_completions.d/cairn.fish", "/usr/share/man/man1/cairn-state-list.1.gz", "/usr/share/man/man1/cairn.1.gz",
	}
	for kind, test := range map[string]struct {
		list, describe []string
		own            string
	}{
		"deb": {
			[]string{"dpkg-deb", "--fsys-tarfile"}, []string{"dpkg-deb", "--field"}, "/usr/share/zsh/vendor-completions/_cairn",
		},
		"rpm": {
			[]string{"rpm", "-qp", "--list"}, []string{"rpm", "-qp", "--info", "--recommends"}, "/usr/share/zsh/site-functions/_cairn",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(r.dir, "cairn_"+r.version+"_linux_amd64."+kind)
			listed := output(t, append(test.list, path))
			if kind == "deb" {
				listed = names(t, listed)
			}
			files := strings.Fields(string(listed))
			for _, want := range append(common, test.own) {
				if !slices.Contains(files, want) {
					t.Errorf("%s is not in the package:\n%s", want, listed)
				}
			}
			described := string(output(t, append(test.describe, path)))
			for _, want := range []string{"MPL-2.0", "https://github.com/cairnstacks/cairn", "git"} {
				if kind == "deb" && want == "MPL-2.0" {
					continue // Debian has the licence in the file copyright
				}
				if !strings.Contains(described, want) {
					t.Errorf("the package does not say %q:\n%s", want, described)
				}
			}
		})
	}
}

// names are those of the files in an archive, a line each, from the root.
func names(t *testing.T, archive []byte) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tar", "-t")
	cmd.Stdin = bytes.NewReader(archive)
	listed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(listed, []byte("./"), []byte("/"))
}

func output(t *testing.T, args []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out
}

// The cask names the archives and their checksums.
func TestCask(t *testing.T) {
	r := wholeRelease(t)
	cask := string(r.read(t, filepath.Join("homebrew", "Casks", "cairn.rb")))
	for _, platform := range platforms {
		if strings.HasPrefix(platform, "windows") {
			continue
		}
		sum := checksum(r.read(t, "cairn_"+r.version+"_"+platform+".tar.gz"))
		if !strings.Contains(cask, sum) {
			t.Errorf("the cask has no archive for %s with the checksum %s:\n%s", platform, sum, cask)
		}
	}
	if strings.Contains(cask, "cairn-server") {
		t.Errorf("the cask has cairn-server:\n%s", cask)
	}
	for _, want := range []string{`binary "cairn"`, `manpage "man/cairn-plan.1"`, `bash_completion "completions/cairn.bash"`} {
		if !strings.Contains(cask, want) {
			t.Errorf("the cask does not say %s:\n%s", want, cask)
		}
	}
}

// crane, which pushes the images, finds no fault with them, and a registry gives back the same
// ones.
func TestImagesInRegistry(t *testing.T) {
	r := wholeRelease(t)
	crane := filepath.Join(t.TempDir(), "crane")
	output(t, []string{
		"go", "build", "-modfile=../release.mod", "-o", crane, "github.com/google/go-containerregistry/cmd/crane",
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	registry := exec.CommandContext(ctx, crane, "registry", "serve", "--address", address)
	if err := registry.Start(); err != nil {
		t.Fatal(err)
	}
	defer registry.Wait() //nolint:errcheck // it is killed
	defer stop()
	for _, program := range []string{"cairn", "cairn-server"} {
		image := image(t, program)
		name := address + "/" + program + ":" + r.version
		pushed := strings.TrimSpace(string(output(t, []string{
			"sh", "-c", `for i in 1 2 3 4 5; do "$0" "$@" && exit; sleep 1; done; exit 1`, crane, "push", "--index", image.dir, name,
		})))
		output(t, []string{crane, "validate", "--remote", name})
		if digest := strings.TrimSpace(string(output(t, []string{crane, "digest", name}))); !strings.HasSuffix(pushed, digest) {
			t.Errorf("%s was pushed, and the registry has %s", pushed, digest)
		}
		for _, platform := range []string{"linux/amd64", "linux/arm64"} {
			config := output(t, []string{crane, "config", "--platform", platform, name})
			if !bytes.Contains(config, []byte(`"User":"65532:65532"`)) {
				t.Errorf("the image of %s for %s has the configuration %s", program, platform, config)
			}
		}
	}
}

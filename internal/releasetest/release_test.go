// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// release is a directory as GoReleaser makes it.
type release struct {
	dir     string
	version string
	commit  string
	whole   bool // made by GoReleaser
}

const repository = "../.."

var made = sync.OnceValues(openRelease)

// temporary has the release that the tests make.
var temporary string

// theRelease returns the release that all tests share.
func theRelease(t *testing.T) *release {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("install.sh and images are for other systems")
	}
	r, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wholeRelease returns a release of GoReleaser, or skips the test.
func wholeRelease(t *testing.T) *release {
	t.Helper()
	r := theRelease(t)
	if !r.whole {
		t.Skip("is about a release that make release-snapshot has made, and make release-test names")
	}
	return r
}

func openRelease() (*release, error) {
	r := &release{dir: os.Getenv("CAIRN_TEST_RELEASE"), whole: true}
	if r.dir == "" {
		var err error
		if r, err = makeRelease(); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "metadata.json"))
	if err != nil {
		return nil, err
	}
	var metadata struct{ Version, Commit string }
	err = json.Unmarshal(text, &metadata)
	r.version, r.commit = metadata.Version, metadata.Commit
	return r, err
}

// makeRelease makes the archive for this machine, with the files that describe it.
func makeRelease() (*release, error) {
	const version, commit = "0.0.1-test", "4d1cd30f0000000000000000000000000000beef"
	root, err := os.MkdirTemp("", "cairn-release-")
	if err != nil {
		return nil, err
	}
	temporary = root
	files, dist := filepath.Join(root, ".cache", "release"), filepath.Join(root, "dist")
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return nil, err
	}
	// Not with -trimpath: all packages would be compiled a second time.
	cmd := exec.Command("sh", filepath.Join(repository, "packaging", "files.sh"), version, commit, "2026-11-30T09:17:02Z", "false")
	cmd.Env = append(os.Environ(), "OUT="+files, "BUILDFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("packaging/files.sh: %w\n%s", err, out)
	}
	for name, from := range map[string]string{"LICENSE": "LICENSE", "README.md": "README.md"} {
		if err := copyFile(filepath.Join(files, name), filepath.Join(repository, from)); err != nil {
			return nil, err
		}
	}
	archive, err := pack(files, "cairn", "LICENSE", "README.md", "LICENSES.txt", "completions", "man")
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("cairn_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	sums := checksum(archive) + "  " + name + "\n"
	if name != "cairn_"+version+"_linux_amd64.tar.gz" { // from whose name install.sh knows the newest version
		sums += strings.Repeat("0", 64) + "  cairn_" + version + "_linux_amd64.tar.gz\n"
	}
	program := map[string]string{"type": "Binary", "path": ".cache/release/cairn", "goos": "linux", "goarch": runtime.GOARCH}
	artifacts, err := json.Marshal([]any{program})
	if err != nil {
		return nil, err
	}
	return &release{dir: dist}, errors.Join(
		os.WriteFile(filepath.Join(dist, name), archive, 0o600),
		os.WriteFile(filepath.Join(dist, "checksums.txt"), []byte(sums), 0o600),
		os.WriteFile(filepath.Join(dist, "artifacts.json"), artifacts, 0o600),
		os.WriteFile(filepath.Join(dist, "metadata.json"), fmt.Appendf(nil, `{"version": %q, "commit": %q}`, version, commit), 0o600),
	)
}

// archive is the name of the archive for this machine.
func (r *release) archive() string {
	return fmt.Sprintf("cairn_%s_%s_%s.tar.gz", r.version, runtime.GOOS, runtime.GOARCH)
}

func (r *release) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// pack returns an archive with files and directories of a directory.
func pack(dir string, names ...string) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(dir, name, "*"))
		if err != nil || len(found) == 0 {
			found = []string{filepath.Join(dir, name)}
		}
		for _, path := range found {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			short, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, err
			}
			mode := int64(0o644)
			if short == "cairn" {
				mode = 0o755
			}
			header := &tar.Header{Name: filepath.ToSlash(short), Mode: mode, Size: int64(len(content)), Typeflag: tar.TypeReg}
			if err := archive.WriteHeader(header); err != nil {
				return nil, err
			}
			if _, err := archive.Write(content); err != nil {
				return nil, err
			}
		}
	}
	err := errors.Join(archive.Close(), z.Close())
	return packed.Bytes(), err
}

// unpack unpacks a compressed archive into a directory and returns what it has.
func unpack(t *testing.T, packed []byte, dir string) []*tar.Header {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var all []*tar.Header
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, header)
		to := filepath.Join(dir, filepath.FromSlash(header.Name)) //nolint:gosec // made by this repository
		if header.Typeflag == tar.TypeDir {
			if err := errors.Join(os.MkdirAll(to, 0o755), os.Chmod(to, header.FileInfo().Mode())); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content, err := io.ReadAll(archive)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, header.FileInfo().Mode().Perm()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

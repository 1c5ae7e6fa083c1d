// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package releasetest

import (
	"archive/tar"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// layout is an image on the disk, in the layout of the OCI.
type layout struct {
	t   *testing.T
	dir string
}

type reference struct {
	Digest   string
	Size     int
	Platform struct{ Architecture, OS string }
}

// blob returns a part of the image, whose name must be that of its content.
func (l *layout) blob(ref reference) []byte {
	l.t.Helper()
	content, err := os.ReadFile(filepath.Join(l.dir, "blobs", filepath.FromSlash(strings.Replace(ref.Digest, ":", "/", 1))))
	if err != nil {
		l.t.Fatal(err)
	}
	if "sha256:"+checksum(content) != ref.Digest || len(content) != ref.Size {
		l.t.Fatalf("%s is damaged", ref.Digest)
	}
	return content
}

func (l *layout) document(text []byte, into any) {
	l.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		l.t.Fatalf("%v\n%s", err, text)
	}
}

// makeImages makes the images of the release that all tests share, and returns their directory.
var makeImages = sync.OnceValues(func() (string, error) {
	r, err := made()
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "run", "github.com/cairnstacks/cairn/internal/buildtool", "images", r.dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
})

// image returns the image of a program.
func image(t *testing.T, program string) *layout {
	t.Helper()
	dir, err := makeImages()
	if err != nil {
		t.Fatal(err)
	}
	return &layout{t, filepath.Join(dir, program)}
}

// open returns the configuration and the packed layer for this machine.
func (l *layout) open() (config, layer []byte) {
	l.t.Helper()
	index, err := os.ReadFile(filepath.Join(l.dir, "index.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	var all struct{ Manifests []reference }
	l.document(index, &all)
	i := slices.IndexFunc(all.Manifests, func(m reference) bool {
		return m.Platform.OS == "linux" && m.Platform.Architecture == runtime.GOARCH
	})
	if i < 0 {
		l.t.Fatalf("there is no image for %s: %+v", runtime.GOARCH, all.Manifests)
	}
	var manifest struct {
		Config reference
		Layers []reference
	}
	l.document(l.blob(all.Manifests[i]), &manifest)
	if len(manifest.Layers) != 1 {
		l.t.Fatalf("there are %d layers", len(manifest.Layers))
	}
	return l.blob(manifest.Config), l.blob(manifest.Layers[0])
}

// The image has the program, certificates and a user, and nothing that would run anything else.
func TestImage(t *testing.T) {
	root, env := unpackImage(t, theRelease(t), "cairn")
	t.Run("read-only", func(t *testing.T) { runReadOnly(t, root, env) })
}

// unpackImage makes the image of a program, checks what it has, and returns the root directory of a
// container with its environment.
func unpackImage(t *testing.T, r *release, program string) (root string, env []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("images are for Linux")
	}
	image := image(t, program)
	configText, layer := image.open()
	var document struct {
		Config struct {
			User, WorkingDir string
			Env, Entrypoint  []string
			Labels           map[string]string
		}
	}
	image.document(configText, &document)
	config := document.Config
	if config.User != "65532:65532" || config.WorkingDir != "/work" || !slices.Equal(config.Entrypoint, []string{"/usr/bin/" + program}) {
		t.Errorf("the image runs %q as %q in %q", config.Entrypoint, config.User, config.WorkingDir)
	}
	if got := config.Labels["org.opencontainers.image.revision"]; got != r.commit {
		t.Errorf("the image is of commit %q, want %q", got, r.commit)
	}

	root = t.TempDir()
	got := map[string]string{}
	for _, header := range unpack(t, layer, root) {
		got[header.Name] = fmt.Sprintf("%o %d:%d", header.Mode, header.Uid, header.Gid)
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeDir {
			t.Errorf("%s is neither a file nor a directory", header.Name)
		}
	}
	want := map[string]string{
		"etc/": "755 0:0", "etc/group": "644 0:0", "etc/passwd": "644 0:0",
		"etc/ssl/": "755 0:0", "etc/ssl/certs/": "755 0:0", "etc/ssl/certs/ca-certificates.crt": "644 0:0",
		"home/": "755 0:0", "home/nonroot/": "1777 65532:65532",
		"tmp/": "1777 0:0",
		"usr/": "755 0:0", "usr/bin/": "755 0:0", "usr/bin/" + program: "755 0:0",
		"usr/share/": "755 0:0", "usr/share/doc/": "755 0:0", "usr/share/doc/" + program + "/": "755 0:0",
		"usr/share/doc/" + program + "/LICENSES.txt": "644 0:0",
		"work/": "755 65532:65532",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the image differ (-want +got):\n%s", diff)
	}
	certificates, err := os.ReadFile(filepath.Join(root, "etc", "ssl", "certs", "ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(certificates) {
		t.Errorf("the image has no certificates of authorities: %v", err)
	}
	wantStatic(t, filepath.Join(root, "usr", "bin", program))
	return root, config.Env
}

// inContainer runs a program in a root directory that it cannot write to, as the user of the image,
// with the mounts that docs/install.md names. It is a container as far as a stack can see.
const inContainer = `set -e
root=$1 work=$2; shift 2
mount --make-rprivate /
mkdir -p "$root/proc" # which whatever runs containers makes, too
mount --bind "$root" "$root"
mount --bind /proc "$root/proc"
mount -t tmpfs -o mode=1777,noexec tmpfs "$root/tmp"
mount -t tmpfs -o mode=1777 tmpfs "$root/home/nonroot"
mount --bind "$work" "$root/work"
mount -o remount,bind,ro "$root"
if touch "$root/etc/written" 2>/dev/null; then echo 'the root can be written' >&2; exit 9; fi
exec chroot --userspec=65532:65532 "$root" "$@"
`

// containerCommand is the command that runs a program in such a root directory, with the
// environment of the image.
func containerCommand(root, work string, env []string, program ...string) []string {
	command := append([]string{"env", "-i"}, env...)
	command = append(command, "PATH=/usr/sbin:/usr/bin:/sbin:/bin") // of the programs around it
	command = append(command, "unshare", "-m", "sh", "-c", inContainer, "sh", root, work)
	return append(command, program...)
}

// workDir returns a directory for /work of a container, whose parents its user comes through.
func workDir(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	for _, dir := range []string{work, filepath.Dir(work)} {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as said
			t.Fatal(err)
		}
	}
	return work
}

// runReadOnly has the image's user do what the README says, on a root that nobody can write to.
func runReadOnly(t *testing.T, root string, env []string) {
	testenv.Root(t)
	files, commands := readmeStack(t)
	work := workDir(t)
	write := exec.CommandContext(t.Context(), "sh", "-ec", files+"\nchown -R 65532:65532 .")
	write.Dir = work
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args []string) (string, error) {
		program := append([]string{"/usr/bin/cairn", "-chdir=/work"}, args...)
		command := containerCommand(root, filepath.Join(work, "hello"), env, program...)
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Stdin = strings.NewReader("yes\n")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// The page is for browsers on the same machine, which a container is not.
	checkCommands(t, slices.DeleteFunc(commands, func(command string) bool { return command == uiCommand }), run)
}

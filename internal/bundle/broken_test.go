// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// wantNothingLeft checks that a failure has left neither a lock file nor half a package.
func (w *world) wantNothingLeft() {
	w.Helper()
	if _, err := os.Stat(filepath.Join(w.dir, LockFileName)); !errors.Is(err, fs.ErrNotExist) {
		w.Errorf("a failure has left a lock file: %v", err)
	}
	entries, err := os.ReadDir(w.options().Dir)
	if err != nil {
		w.Fatal(err)
	}
	for _, entry := range entries {
		w.Errorf("a failure has left %s", entry.Name())
	}
}

func TestBrokenArchives(t *testing.T) {
	w := newWorld(t)
	good := sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule})
	wrongSum := bytes.Clone(good)
	wrongSum[len(wrongSum)-6] ^= 1
	var notTar bytes.Buffer
	compressed := gzip.NewWriter(&notTar)
	if _, err := compressed.Write(bytes.Repeat([]byte("no archive "), 200)); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	pack := func(entries ...sourcetest.Entry) []byte { return sourcetest.Pack(t, entries...) }
	outside := filepath.Join(t.TempDir(), "outside")
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"cut off":             {good[:len(good)/2], "the archive is cut off"},
		"cut off in checksum": {good[:len(good)-4], "the archive is cut off"},
		"empty answer":        {nil, "the archive is cut off"},
		"no gzip":             {[]byte("<html>please log in</html>"), "the answer is not a gzip-compressed archive"},
		"wrong checksum":      {wrongSum, "its checksum is wrong"},
		"no tar":              {notTar.Bytes(), "the archive is damaged, or no tar archive"},
		"empty":               {pack(), "the archive is empty"},
		"traversal":           {pack(sourcetest.Entry{Name: "../evil", Content: "x"}), `a file whose name leads out of it, "../evil"`},
		"hidden traversal":    {pack(sourcetest.Entry{Name: "a/b/../../../evil", Content: "x"}), "leads out of it"},
		"absolute":            {pack(sourcetest.Entry{Name: outside, Content: "x"}), "leads out of it"},
		"backslashes":         {pack(sourcetest.Entry{Name: `..\evil`, Content: "x"}), "leads out of it"},
		"link out":            {pack(sourcetest.Entry{Name: "a", Link: "../../x", Type: tar.TypeSymlink}), `a link that leads out of it, "a"`},
		"absolute link":       {pack(sourcetest.Entry{Name: "a", Link: "/etc/passwd", Type: tar.TypeSymlink}), "a link that leads out"},
		"link by link": {pack(
			sourcetest.Entry{Name: "d/e/f", Content: "x"},
			sourcetest.Entry{Name: "a", Link: "d/e", Type: tar.TypeSymlink},
			sourcetest.Entry{Name: "b", Link: "a/../../../x", Type: tar.TypeSymlink}), "leads out of it"},
		"hard link out": {pack(
			sourcetest.Entry{Name: "a", Link: "../x", Type: tar.TypeLink}), "leads out of it"},
		"device": {pack(sourcetest.Entry{Name: "a", Type: tar.TypeChar}), "neither a file nor a directory"},
		"too large": {pack(
			sourcetest.Entry{Name: "a", Content: strings.Repeat("0", 60_000)},
			sourcetest.Entry{Name: "b", Content: strings.Repeat("0", 60_000)}), "the archive is too large when unpacked"},
		"too many files": {pack(manyFiles(60)...), "too many files: more than 50"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{T: t, server: w.server, dir: t.TempDir(), environ: w.environ}
			w.server.Archive("x.tgz", test.content)
			w.stack(`component "c" { source = "https://HOST/archives/x.tgz" }`)
			_, diags, _ := w.fetch(context.Background(), func(opts *FetcherOptions) { opts.Limits = unpack.Limits{Bytes: 100_000, Files: 50} })
			w.wantError(diags, "Source cannot be used here: https://HOST/archives/x.tgz cannot be resolved from this stack: ", test.want)
			w.wantNothingLeft()
			for _, path := range []string{outside, filepath.Join(w.dir, "evil"), filepath.Join(w.dir, ".cairn", "evil")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
		})
	}
}

func manyFiles(count int) []sourcetest.Entry {
	var entries []sourcetest.Entry
	for i := range count {
		entries = append(entries, sourcetest.Entry{Name: strings.Repeat("a", i+1)})
	}
	return entries
}

// An entry below a link that was unpacked before would be written where the link leads.
func TestArchiveCannotWriteThroughItsLinks(t *testing.T) {
	target := t.TempDir()
	dir := t.TempDir()
	archive := sourcetest.Pack(t,
		sourcetest.Entry{Name: "d", Link: target, Type: tar.TypeSymlink},
		sourcetest.Entry{Name: "d/evil", Content: "x"})
	if err := unpack.Tar(t.Context(), bytes.NewReader(archive), dir, unpack.Limits{}); err == nil {
		t.Error("the archive was accepted")
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v in the directory that the link leads to", entries, err)
	}
}

func TestLinksWithinArchive(t *testing.T) {
	dir := t.TempDir()
	archive := sourcetest.Pack(t,
		sourcetest.Entry{Name: "./", Type: tar.TypeDir},
		sourcetest.Entry{Name: "./a/link", Link: "../b/file", Type: tar.TypeSymlink},
		sourcetest.Entry{Name: "./dangling", Link: "b/gone", Type: tar.TypeSymlink},
		sourcetest.Entry{Name: "./hard", Link: "b/file", Type: tar.TypeLink},
		sourcetest.Entry{Name: "./b/file", Content: "content"})
	if err := unpack.Tar(t.Context(), bytes.NewReader(archive), dir, unpack.Limits{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/link", "hard", "b/file"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(content) != "content" {
			t.Errorf("%s: got %q, %v", name, content, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "dangling")); err == nil {
		t.Error("a link that leads nowhere was kept")
	}
}

func TestBrokenServers(t *testing.T) {
	w := newWorld(t)
	w.server.Handle("loop.tgz", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, r.URL.Path, http.StatusFound) })
	w.server.Handle("plain.tgz", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://"+r.Host+"/archives/x.tgz", http.StatusFound)
	})
	w.server.Handle("error.tgz", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusBadGateway) })
	w.server.Publish("modules/ns/nowhere/x", "1.0.0", "/archives/gone.tgz")
	w.server.Publish("modules/ns/zip/x", "1.0.0", "https://user:secret@example.test/archive.zip")
	w.server.Publish("modules/ns/local/x", "1.0.0", "./../../../../../../../x")
	unused := "127.0.0.1:1"
	for name, test := range map[string]struct {
		source, version, want string
	}{
		"not found":            {"https://HOST/archives/gone.tgz", "", `HOST answers "404 Not Found"`},
		"error":                {"https://HOST/archives/error.tgz", "", `HOST answers "502 Bad Gateway"`},
		"endless redirect":     {"https://HOST/archives/loop.tgz", "", "it redirects more than 10 times"},
		"redirect to http":     {"https://HOST/archives/plain.tgz", "", "it redirects to an address without encryption"},
		"unreachable archive":  {"https://" + unused + "/x.tgz", "", "asking 127.0.0.1:1 failed: "},
		"unreachable git":      {"git::https://" + unused + "/x.git", "", "git failed: "},
		"unreachable registry": {unused + "/a/b/c", "1.0.0", "asking 127.0.0.1:1 failed: "},
		"no repository":        {"git::https://HOST/git/gone.git", "", "git failed: "},
		"option as ref":        {"git::https://HOST/git/gone.git?ref=--upload-pack=x", "", "is not a name of a branch"},
		"no package":           {"HOST/ns/none/x", "1.0.0", "the registry HOST has no HOST/ns/none/x"},
		"no version": {
			"HOST/ns/nowhere/x", "~> 2.0",
			`no version of HOST/ns/nowhere/x satisfies the constraint "~> 2.0"; the registry has 1.0.0.`,
		},
		"gone package":          {"HOST/ns/nowhere/x", "1.0.0", `HOST answers "404 Not Found"`},
		"unusable location":     {"HOST/ns/zip/x", "1.0.0", "gives a location for version 1.0.0 that cannot be used: "},
		"location without type": {"HOST/ns/local/x", "1.0.0", "gives a location for version 1.0.0 that cannot be used: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{T: t, server: w.server, dir: t.TempDir(), environ: w.environ}
			block := "component \"c\" {\n  source = \"" + test.source + "\"\n"
			if test.version != "" {
				block += "  version = \"" + test.version + "\"\n"
			}
			w.stack(block + "}\n")
			_, diags, _ := w.fetch(context.Background(), func(opts *FetcherOptions) {
				client := *opts.Client
				client.CheckRedirect = registry.CheckRedirect
				opts.Client = &client
			})
			w.wantError(diags, "Source cannot be used here: ", test.want)
			if strings.Contains(diags.Error(), "secret") {
				t.Errorf("a secret is shown: %s", diags)
			}
		})
	}
}

func TestUntrustedServer(t *testing.T) {
	w := newWorld(t)
	w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "")
	w.environ = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	w.stack(`component "c" { source = "git::https://HOST/git/r.git" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "git failed: ", "certificate")
}

func TestEmptyRepository(t *testing.T) {
	w := newWorld(t)
	w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule}, "")
	w.stack(`component "c" { source = "git::https://HOST/git/r.git?ref=nope" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, `the repository has no branch, tag or commit "nope"`)
	w.stack(`component "c" { source = "git::https://HOST/git/r.git//gone" }`)
	_, diags, _ = w.fetch(context.Background(), nil)
	w.wantError(diags, "leads from this stack to git::https://HOST/git/r.git//gone, but there is no such directory")
}

func TestRepositoryWithLinkOut(t *testing.T) {
	w := newWorld(t)
	w.server.Repository(t, "r.git", map[string]string{"main.tf": emptyModule, "passwords": "-> /etc/passwd"}, "")
	w.stack(`component "c" { source = "git::https://HOST/git/r.git" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, `the package has a link that leads out of it, "passwords"`)
	w.wantNothingLeft()
}

func TestMissingGit(t *testing.T) {
	w := newWorld(t)
	w.environ = []string{"PATH=" + t.TempDir()}
	w.stack(`component "c" { source = "git::https://HOST/git/r.git" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "the program git is not installed, or not on PATH")
}

// Relative sources of packages stay in them.
func TestRelativeSourceCannotLeavePackage(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("x.tgz", sourcetest.Pack(t, sourcetest.Entry{
		Name:    "s/main.tfcomponent.hcl",
		Content: "component \"c\" {\n  source = \"../../other\"\n}\n",
	}))
	w.stack(`stack "s" { source = "https://HOST/archives/x.tgz//s" }`)
	_, diags, _ := w.fetch(context.Background(), nil)
	w.wantError(diags, "Source cannot be used here: ../../other cannot be resolved from this stack: it leads out of the source package")
}

func TestCancelledWhileServerIsSlow(t *testing.T) {
	for name, source := range map[string]string{
		"archive":           "https://HOST/archives/slow.tgz",
		"archive's content": "https://HOST/archives/stuck.tgz",
		"git":               "git::https://HOST/archives/slow.tgz/r.git",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			cause := errors.New("the user interrupted it")
			ctx, cancel := context.WithCancelCause(context.Background())
			slow := func(begin []byte) http.HandlerFunc {
				return func(rw http.ResponseWriter, r *http.Request) {
					if len(begin) > 0 {
						_, _ = rw.Write(begin)
						_ = http.NewResponseController(rw).Flush()
					}
					cancel(cause) // the request has arrived
					<-r.Context().Done()
				}
			}
			archive := sourcetest.Pack(t, sourcetest.Entry{Name: "main.tf", Content: emptyModule})
			w.server.Handle("slow.tgz", slow(nil))
			w.server.Handle("slow.tgz/r.git/info/refs", slow(nil))
			w.server.Handle("stuck.tgz", slow(archive[:20]))
			w.stack(`component "c" { source = "` + source + `" }`)
			_, diags, _ := w.fetch(ctx, nil)
			w.wantError(diags, cause.Error())
			w.wantNothingLeft()
		})
	}
}

func TestBrokenRegistryAnswers(t *testing.T) {
	answers := map[string]struct{ path, answer, want string }{
		"discovery":  {"/.well-known/terraform.json", "<html>", "gives an answer that cannot be understood"},
		"no service": {"/.well-known/terraform.json", `{"login.v1": {}}`, "has no registry for this kind of source (modules.v1)"},
		"plain service": {
			"/.well-known/terraform.json", `{"modules.v1": "http://example.test/"}`,
			"gives an address for modules.v1 that is not an https address",
		},
		"versions":    {"/modules/ns/m/x/versions", `{"modules": [{"versions": "all"}]}`, "gives an answer that cannot be understood"},
		"no versions": {"/modules/ns/m/x/versions", `{}`, "the registry has no version of HOST/ns/m/x"},
		"bad versions": {
			"/modules/ns/m/x/versions", `{"modules": [{"versions": [{"version": "latest"}]}]}`,
			"no version of HOST/ns/m/x satisfies",
		},
		"no location":  {"/modules/ns/m/x/1.0.0/download", `{}`, "does not say where version 1.0.0 is"},
		"bad location": {"/modules/ns/m/x/1.0.0/download", `{`, "gives an answer that cannot be understood"},
		"cyclic":       {"/modules/ns/m/x/1.0.0/download", `{"location": "ns/m/x"}`, "that is neither a repository nor an archive"},
	}
	for name, test := range answers {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.Publish("modules/ns/m/x", "1.0.0", "/archives/x.tgz")
			w.server.Override(test.path, test.answer)
			w.stack("component \"c\" {\n  source = \"HOST/ns/m/x\"\n  version = \"1.0.0\"\n}\n")
			_, diags, _ := w.fetch(context.Background(), nil)
			w.wantError(diags, "Source cannot be used here", test.want)
		})
	}
}

func TestLocationInBody(t *testing.T) {
	w := newWorld(t)
	w.server.Archive("x.tgz", sourcetest.Pack(t, sourcetest.Entry{Name: "top-1234/main.tf", Content: emptyModule}))
	w.server.Publish("modules/ns/m/x", "1.0.0", "unused")
	w.server.Override("/modules/ns/m/x/1.0.0/download", `{"location": "/archives/x.tgz//*?archive=tar.gz"}`)
	w.stack("component \"c\" {\n  source = \"HOST/ns/m/x\"\n  version = \"1.0.0\"\n}\n")
	config := w.mustFetch(nil)
	if dir := config.Root.Components["c"].Source.Dir; filepath.Base(dir) != "top-1234" {
		t.Errorf("got directory %s", dir)
	}
}

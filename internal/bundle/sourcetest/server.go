// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sourcetest serves sources to tests: git repositories, archives and registries, all over
// https on the loopback interface.
package sourcetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server has the repositories and files that were published with its methods. Paths below it:
//
//   - /git/NAME: repositories
//   - /archives/NAME: archives
//   - /.well-known/terraform.json, /modules/, /components/: registries
type Server struct {
	Host   string // address with port
	CAFile string // certificate of the server, in PEM
	Client *http.Client

	server *httptest.Server
	dir    string
	git    http.Handler

	mu struct {
		sync.Mutex
		token    string // that requests to the registries must have, unless it is empty
		requests []string
		archives map[string]http.HandlerFunc
		override map[string]string            // answers by path
		packages map[string]map[string]string // locations by version, by path of the package
	}
}

// RequireToken lets the registries answer only requests that have this token.
func (s *Server) RequireToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.token = token
}

// Start starts a server that ends with the test. It skips the test if there is no git, unless the
// variable CI is set.
func Start(tb testing.TB) *Server {
	tb.Helper()
	backend, err := gitBackend(tb)
	if err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatalf("git is not installed, and CI must have it: %v", err)
		}
		tb.Skipf("git is not installed: %v", err)
	}
	s := &Server{dir: tb.TempDir()}
	s.mu.archives = map[string]http.HandlerFunc{}
	s.mu.override = map[string]string{}
	s.mu.packages = map[string]map[string]string{}
	s.git = http.StripPrefix("/git", &cgi.Handler{
		Path:   backend,
		Stderr: io.Discard,
		Env:    []string{"GIT_PROJECT_ROOT=" + s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="},
	})
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that give up are the subject of tests
	s.server.StartTLS()
	tb.Cleanup(s.Stop)
	s.Host = strings.TrimPrefix(s.server.URL, "https://")
	s.Client = s.server.Client()
	s.CAFile = filepath.Join(tb.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	if err := os.WriteFile(s.CAFile, certificate, 0o600); err != nil {
		tb.Fatal(err)
	}
	return s
}

func gitBackend(tb testing.TB) (string, error) {
	dir, err := exec.CommandContext(tb.Context(), "git", "--exec-path").Output()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(strings.TrimSpace(string(dir)), "git-http-backend"))
}

// Stop ends the server before the test ends.
func (s *Server) Stop() {
	s.server.CloseClientConnections() // also of requests that are not answered
	s.server.Close()
}

// Requests returns the paths that were asked for since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.mu.requests
	s.mu.requests = nil
	return requests
}

// Environ returns an environment in which programs trust the server, and which nothing of the
// user's is in.
func (s *Server) Environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_SSL_CAINFO=" + s.CAFile, "SSL_CERT_FILE=" + s.CAFile,
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.mu.requests = append(s.mu.requests, r.URL.Path)
	archive := s.mu.archives[strings.TrimPrefix(r.URL.Path, "/archives/")]
	answer, overridden := s.mu.override[r.URL.Path]
	s.mu.Unlock()
	switch {
	case overridden:
		_, _ = w.Write([]byte(answer)) //nolint:errcheck // a test's server
	case archive != nil:
		archive(w, r)
	case strings.HasPrefix(r.URL.Path, "/git/"):
		s.git.ServeHTTP(w, r)
	case r.URL.Path == "/.well-known/terraform.json":
		//nolint:errcheck // a test's server
		_, _ = w.Write([]byte(`{"modules.v1": "/modules/", "components.v1": "/components/", "login.v1": {}}`))
	case strings.HasPrefix(r.URL.Path, "/modules/"), strings.HasPrefix(r.URL.Path, "/components/"):
		s.serveRegistry(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) serveRegistry(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.token != "" && r.Header.Get("Authorization") != "Bearer "+s.mu.token {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if path, ok := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/versions"); ok && s.mu.packages[path] != nil {
		type version struct {
			Version string `json:"version"`
		}
		var versions []version
		for _, text := range slices.Sorted(maps.Keys(s.mu.packages[path])) {
			versions = append(versions, version{text})
		}
		kind, _, _ := strings.Cut(path, "/")
		//nolint:errcheck,errchkjson // a test's server
		_ = json.NewEncoder(w).Encode(map[string]any{kind: []any{map[string]any{"versions": versions}}})
		return
	}
	if path, ok := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/download"); ok {
		if location := s.mu.packages[filepath.ToSlash(filepath.Dir(path))][filepath.Base(path)]; location != "" {
			w.Header().Set("X-Terraform-Get", location)
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	http.NotFound(w, r)
}

// Publish makes a version of a package known to a registry. The path starts with modules/ or
// components/.
func (s *Server) Publish(path, version, location string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.packages[path] == nil {
		s.mu.packages[path] = map[string]string{}
	}
	s.mu.packages[path][version] = location
}

// Handle answers requests for an archive.
func (s *Server) Handle(name string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.archives[name] = handler
}

// Override sets the answer to requests for a path.
func (s *Server) Override(path, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.override[path] = answer
}

// Archive publishes an archive and returns its address.
func (s *Server) Archive(name string, content []byte) string {
	s.Handle(name, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content) //nolint:errcheck // a test's server
	})
	return s.server.URL + "/archives/" + name
}

// Repository makes a repository with one commit, or adds one to it, on the branch main, and returns
// the address and the commit. A tag, unless it is empty, is set to it.
func (s *Server) Repository(tb testing.TB, name string, files map[string]string, tag string) (address, commit string) {
	tb.Helper()
	bare := filepath.Join(s.dir, name)
	work := filepath.Join(tb.TempDir(), "work")
	if _, err := os.Stat(bare); err != nil {
		s.runGit(tb, s.dir, "init", "--quiet", "--bare", "--initial-branch=main", bare)
		s.runGit(tb, s.dir, "init", "--quiet", "--initial-branch=main", work)
	} else {
		s.runGit(tb, s.dir, "clone", "--quiet", bare, work)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if target, ok := strings.CutPrefix(files[name], "-> "); ok {
			if err := os.Symlink(target, path); err != nil {
				tb.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	s.runGit(tb, work, "add", "--all")
	s.runGit(tb, work, "commit", "--quiet", "--allow-empty", "--message=change")
	s.runGit(tb, work, "push", "--quiet", bare, "HEAD:refs/heads/main")
	if tag != "" {
		s.runGit(tb, work, "push", "--quiet", "--force", bare, "HEAD:refs/tags/"+tag)
	}
	return "git::" + s.server.URL + "/git/" + name, s.runGit(tb, work, "rev-parse", "HEAD")
}

// RepositoryWithSubmodule makes a repository with a commit of another one at a path.
func (s *Server) RepositoryWithSubmodule(tb testing.TB, name, path, address, commit string) {
	tb.Helper()
	s.Repository(tb, name, map[string]string{
		".gitmodules": fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n", path, path, address),
	}, "")
	work := filepath.Join(tb.TempDir(), "work")
	s.runGit(tb, s.dir, "clone", "--quiet", filepath.Join(s.dir, name), work)
	s.runGit(tb, work, "update-index", "--add", "--cacheinfo", "160000,"+commit+","+path)
	s.runGit(tb, work, "commit", "--quiet", "--message=submodule")
	s.runGit(tb, work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
}

func (s *Server) runGit(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(s.Environ(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Entry is an entry of an archive. Type 0 is a file.
type Entry struct {
	Name, Content, Link string
	Type                byte
}

// Pack returns a compressed archive.
func Pack(tb testing.TB, entries ...Entry) []byte {
	tb.Helper()
	var buffer bytes.Buffer
	if err := pack(&buffer, entries); err != nil {
		tb.Fatal(err)
	}
	return buffer.Bytes()
}

// TryPack is Pack for entries that may not make an archive.
func TryPack(w io.Writer, entries ...Entry) bool { return pack(w, entries) == nil }

func pack(w io.Writer, entries []Entry) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, entry := range entries {
		header := &tar.Header{Name: entry.Name, Linkname: entry.Link, Typeflag: entry.Type, Mode: 0o644, Size: int64(len(entry.Content))}
		if header.Typeflag == 0 {
			header.Typeflag = tar.TypeReg
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, entry.Content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

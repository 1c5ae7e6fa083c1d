// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package releasetest serves made-up releases of terraform and tofu, signed by a key of its own,
// laid out as package release reads mirrors.
package releasetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Server is a mirror. Its files may be changed between requests. Safe for concurrent use.
type Server struct {
	URL string // of the mirror
	Key string // ASCII-armored, that signs the releases

	t      testing.TB
	server *httptest.Server
	signer *openpgp.Entity

	mu struct {
		sync.Mutex
		files    map[string][]byte // by path, without a slash at the beginning
		hanging  map[string]func() // called when the file is asked for, which is never sent
		versions map[string][]string
	}
}

// Start starts a server without releases. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t}
	s.signer, s.Key = newKey(t)
	s.mu.files, s.mu.hanging, s.mu.versions = map[string][]byte{}, map[string]func(){}, map[string][]string{}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.URL = s.server.URL
	return s
}

// Close ends the server, which may have ended.
func (s *Server) Close() { s.server.Close() }

func newKey(t testing.TB) (*openpgp.Entity, string) {
	t.Helper()
	entity, err := openpgp.NewEntity("Tests", "", "tests@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err == nil {
		err = entity.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return entity, text.String()
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	s.mu.Lock()
	content, ok := s.mu.files[name]
	reached := s.mu.hanging[name]
	s.mu.Unlock()
	if reached != nil {
		w.Header().Set("Content-Type", "application/zip") // else the client may fail for that before the file is reached
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		reached()
		<-r.Context().Done() // the client has gone
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	switch path.Ext(name) {
	case ".json":
		w.Header().Set("Content-Type", "application/json")
	case ".zip":
		w.Header().Set("Content-Type", "application/zip")
	}
	_, _ = w.Write(content) //nolint:errcheck // a client may disconnect
}

// File returns a file, which must be there.
func (s *Server) File(name string) []byte {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.mu.files[name]
	if !ok {
		s.t.Fatalf("no file %s", name)
	}
	return bytes.Clone(content)
}

// Set publishes a file, in place of one that may be there. Nil takes it away.
func (s *Server) Set(name string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if content == nil {
		delete(s.mu.files, name)
		return
	}
	s.mu.files[name] = content
}

// Hang makes requests for a file last until the client goes. It calls reached for each.
func (s *Server) Hang(name string, reached func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.hanging[name] = reached
}

// Program returns a shell script that says that it is a version of a program.
func Program(program, version string) []byte {
	name := "Terraform"
	if program == "tofu" {
		name = "OpenTofu"
	}
	return fmt.Appendf(nil, "#!/bin/sh\necho '%s v%s'\n", name, version)
}

// Add publishes a release for this platform, made of a program's content.
func (s *Server) Add(program, version string, content []byte) {
	s.t.Helper()
	prefix := fmt.Sprintf("%s_%s", program, version)
	archive := ArchiveName(program, version)
	packed := s.zip(program, content)
	dir, signature := path.Join("terraform", version), prefix+"_SHA256SUMS.sig"
	if program == "tofu" {
		packed = s.tarball(program, content)
		dir, signature = "tofu/v"+version, prefix+"_SHA256SUMS.gpgsig"
	}
	sums := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(packed), path.Base(archive))
	s.Set(archive, packed)
	s.Set(path.Join(dir, prefix+"_SHA256SUMS"), sums)
	s.Set(path.Join(dir, signature), s.sign(s.signer, sums))
	s.mu.Lock()
	s.mu.versions[program] = append(s.mu.versions[program], version)
	s.mu.Unlock()
	s.index(program)
}

// Forge signs the checksums of a release with another key.
func (s *Server) Forge(program, version string) {
	s.t.Helper()
	other, _ := newKey(s.t)
	list, signature := ListName(program, version), SignatureName(program, version)
	s.Set(signature, s.sign(other, s.File(list)))
}

// ArchiveName returns the path of the archive of a release for this platform.
func ArchiveName(program, version string) string {
	name := fmt.Sprintf("%s_%s_%s_%s", program, version, runtime.GOOS, runtime.GOARCH)
	if program == "tofu" {
		return path.Join("tofu", "v"+version, name+".tar.gz")
	}
	return path.Join("terraform", version, name+".zip")
}

// ListName returns the path of the list of checksums of a release.
func ListName(program, version string) string {
	return path.Join(path.Dir(ArchiveName(program, version)), fmt.Sprintf("%s_%s_SHA256SUMS", program, version))
}

// SignatureName returns the path of the signature of that list.
func SignatureName(program, version string) string {
	if program == "tofu" {
		return ListName(program, version) + ".gpgsig"
	}
	return ListName(program, version) + ".sig"
}

func (s *Server) sign(signer *openpgp.Entity, content []byte) []byte {
	s.t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, signer, bytes.NewReader(content), nil); err != nil {
		s.t.Fatal(err)
	}
	return signature.Bytes()
}

func (s *Server) zip(program string, content []byte) []byte {
	s.t.Helper()
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, content := range map[string][]byte{"LICENSE.txt": []byte("terms"), executable(program): content} {
		w, err := archive.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		s.t.Fatal(err)
	}
	return packed.Bytes()
}

func (s *Server) tarball(program string, content []byte) []byte {
	s.t.Helper()
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for name, content := range map[string][]byte{"LICENSE": []byte("terms"), executable(program): content} {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))})
		if err == nil {
			_, err = archive.Write(content)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		s.t.Fatal(err)
	}
	return packed.Bytes()
}

func executable(program string) string {
	if runtime.GOOS == "windows" {
		return program + ".exe"
	}
	return program
}

// index publishes which versions there are.
func (s *Server) index(program string) {
	s.t.Helper()
	s.mu.Lock()
	versions := append([]string(nil), s.mu.versions[program]...)
	s.mu.Unlock()
	if program == "tofu" {
		var all []any
		for _, version := range versions {
			all = append(all, map[string]any{"id": version, "files": []string{
				path.Base(ArchiveName(program, version)), path.Base(ListName(program, version)), path.Base(SignatureName(program, version)),
			}})
		}
		s.setJSON("tofu/api.json", map[string]any{"versions": all})
		return
	}
	all := map[string]any{}
	for _, version := range versions {
		archive := ArchiveName(program, version)
		all[version] = map[string]any{
			"name": program, "version": version,
			"shasums":            path.Base(ListName(program, version)),
			"shasums_signature":  path.Base(SignatureName(program, version)),
			"shasums_signatures": []string{path.Base(SignatureName(program, version))},
			"builds": []any{map[string]any{
				"name": program, "version": version, "os": runtime.GOOS, "arch": runtime.GOARCH,
				"filename": path.Base(archive), "url": "https://releases.example.com/" + archive,
			}},
		}
		s.setJSON(path.Join(program, version, "index.json"), all[version])
	}
	s.setJSON(path.Join(program, "index.json"), map[string]any{"name": program, "versions": all})
}

func (s *Server) setJSON(name string, document any) {
	s.t.Helper()
	content, err := json.Marshal(document)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Set(name, content)
}

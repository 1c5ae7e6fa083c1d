// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package registrytest is a registry of providers, and a mirror of them, for tests. A test can have
// it behave in any way, also as no registry should.
package registrytest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/cairnstacks/cairn/internal/registry"
)

// Server is a registry by HTTPS. All its answers can be replaced by [Server.Handle]:
//
//   - /.well-known/terraform.json
//   - /providers/NAMESPACE/TYPE/versions
//   - /providers/NAMESPACE/TYPE/VERSION/download/OS/ARCH
//   - /files/NAME, with archives, checksums and signatures
//   - /modules/ and all else, with files of the tests
type Server struct {
	Host   string // with port
	Client *http.Client
	Key    *openpgp.Entity

	SignConfig *packet.Config // nil for the default

	certificate *x509.Certificate

	mu struct {
		sync.Mutex
		handlers map[string]http.HandlerFunc
		versions map[string][]string // by NAMESPACE/TYPE
		requests []*http.Request
	}
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	// A key of this kind is made at once.
	key, err := openpgp.NewEntity("publisher", "", "publisher@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Key: key}
	s.mu.handlers = map[string]http.HandlerFunc{}
	s.mu.versions = map[string][]string{}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that give up are the subject of tests
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.Host, s.Client, s.certificate = strings.TrimPrefix(server.URL, "https://"), server.Client(), server.Certificate()
	s.Answer("/.well-known/terraform.json", `{"providers.v1": "/providers/", "modules.v1": "/modules/"}`)
	return s
}

// Registries returns a client that trusts the server, and repeats requests at once.
func (s *Server) Registries(environ []string) *registry.Client {
	redirecting := *s.Client
	redirecting.CheckRedirect = registry.CheckRedirect
	client := registry.New(&redirecting, environ)
	client.Pause = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	return client
}

// CAFile returns a file with the certificates that clients in other processes must trust, as
// SSL_CERT_FILE names it.
func (s *Server) CAFile(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.certificate.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Mirror makes a directory a mirror in the network, as which its address is returned.
func (s *Server) Mirror(t testing.TB, dir string) string {
	t.Helper()
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		s.Handle("/mirror/"+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, path) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return "https://" + s.Host + "/mirror/"
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.mu.requests = append(s.mu.requests, r)
	handler := s.mu.handlers[r.URL.Path]
	s.mu.Unlock()
	if handler == nil {
		handler = http.NotFound
	}
	handler(w, r)
}

// Handle answers requests for a path.
func (s *Server) Handle(path string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.handlers[path] = handler
}

// Demand refuses requests for paths below one that have no token, or another.
func (s *Server) Demand(below, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, handler := range s.mu.handlers {
		if !strings.HasPrefix(path, below) {
			continue
		}
		s.mu.handlers[path] = func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				http.Error(w, "not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
				return
			}
			handler(w, r)
		}
	}
}

// Answer answers requests for a path with a text.
func (s *Server) Answer(path, text string) {
	s.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
		if json.Valid([]byte(text)) {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = io.WriteString(w, text) //nolint:errcheck // a test's server
	})
}

// Requests returns the paths that were asked for with a token, or without, since the last call.
func (s *Server) Requests(token string) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.mu.requests {
		if strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") == token {
			paths = append(paths, r.URL.Path)
		}
	}
	s.mu.requests = nil
	return paths
}

// File is a file in an archive.
type File struct {
	Name, Content string
}

// Zip returns an archive of programs.
func Zip(t testing.TB, files ...File) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, file := range files {
		header := &zip.FileHeader{Name: file.Name, Method: zip.Store}
		header.SetMode(0o755)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(entry, file.Content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// Release is one version of a provider in a registry.
type Release struct {
	Namespace, Type, Version string
	Archives                 map[string][]byte // by platform; nil: one for os_arch, with a program
	Warnings                 []string

	// Change changes the answer of the registry about a package.
	Change func(answer map[string]any)

	// Sums changes the list of checksums before it is signed, Signature the signature of it.
	Sums, Signature func([]byte) []byte
}

// Program returns an archive with the program of a provider.
func Program(t testing.TB, name, version string) []byte {
	t.Helper()
	return Zip(t, File{"terraform-provider-" + name + "_v" + version, "#!/bin/sh\nexit 1\n"}, File{"LICENSE", "none"})
}

// Publish publishes a release.
func (s *Server) Publish(t testing.TB, r Release) {
	t.Helper()
	if r.Archives == nil {
		r.Archives = map[string][]byte{"os_arch": Program(t, r.Type, r.Version)}
	}
	name := func(platform string) string {
		return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", r.Type, r.Version, platform)
	}
	var sums bytes.Buffer
	for _, platform := range slices.Sorted(maps.Keys(r.Archives)) {
		sum := sha256.Sum256(r.Archives[platform])
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name(platform))
	}
	list := sums.Bytes()
	if r.Sums != nil {
		list = r.Sums(list)
	}
	signature := s.Sign(t, list)
	if r.Signature != nil {
		signature = r.Signature(signature)
	}
	release := r.Type + "_" + r.Version
	s.Answer("/files/"+release+"_SHA256SUMS", string(list))
	s.Answer("/files/"+release+"_SHA256SUMS.sig", string(signature))
	for platform, archive := range r.Archives {
		s.Answer("/files/"+name(platform), string(archive))
		sum := sha256.Sum256(archive)
		os, arch, _ := strings.Cut(platform, "_")
		answer := map[string]any{
			"protocols": []string{"4.0", "5.1"}, "os": os, "arch": arch,
			"filename": name(platform), "download_url": "/files/" + name(platform), "shasum": hex.EncodeToString(sum[:]),
			"shasums_url": "/files/" + release + "_SHA256SUMS", "shasums_signature_url": "/files/" + release + "_SHA256SUMS.sig",
			"signing_keys": map[string]any{"gpg_public_keys": []any{map[string]any{"key_id": "claimed", "ascii_armor": s.PublicKey(t)}}},
		}
		if r.Change != nil {
			r.Change(answer)
		}
		s.answerJSON(t, fmt.Sprintf("/providers/%s/%s/%s/download/%s/%s", r.Namespace, r.Type, r.Version, os, arch), answer)
	}
	s.list(t, r)
}

// list adds a version to those of its provider.
func (s *Server) list(t testing.TB, r Release) {
	path := r.Namespace + "/" + r.Type
	s.mu.Lock()
	s.mu.versions[path] = append(s.mu.versions[path], r.Version)
	var versions []any
	for _, version := range s.mu.versions[path] {
		versions = append(versions, map[string]any{"version": version, "protocols": []string{"5.0"}})
	}
	s.mu.Unlock()
	s.answerJSON(t, "/providers/"+path+"/versions", map[string]any{"versions": versions, "warnings": r.Warnings})
}

func (s *Server) answerJSON(t testing.TB, path string, value any) {
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	s.Answer(path, string(encoded))
}

// Sign returns a signature of the publisher.
func (s *Server) Sign(t testing.TB, content []byte) []byte {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, s.Key, bytes.NewReader(content), s.SignConfig); err != nil {
		t.Fatal(err)
	}
	return signature.Bytes()
}

// PublicKey returns the key of the publisher as text.
func (s *Server) PublicKey(t testing.TB) string {
	t.Helper()
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err == nil {
		err = s.Key.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// MirrorDir returns a directory with packages of a provider, not packed: its platforms by versions.
func MirrorDir(t testing.TB, provider string, versions map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	_, name := path.Split(provider)
	for version, platforms := range versions {
		for _, platform := range platforms {
			unpacked := filepath.Join(dir, filepath.FromSlash(provider), version, platform)
			err := os.MkdirAll(unpacked, 0o755) //nolint:gosec // a test's directory
			if err == nil {
				//nolint:gosec // a program
				err = os.WriteFile(filepath.Join(unpacked, "terraform-provider-"+name+"_v"+version), []byte(version+platform), 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
)

// registry serves providers and modules over https, below the address of its host.
type registry struct {
	host string // with port
	env  []string
	hash string // of the package of the provider for linux_amd64
}

// startRegistry starts a registry, which ends with the test. It has
//
//   - the provider acme/single in version 1.0.0, for linux_amd64 and darwin_arm64, signed;
//   - the provider acme/several in versions 1.10.0, 1.2.0 and 2.0.0-beta1, with notices;
//   - the module acme/net/cloud in versions 1.0.0, whose package is a zip archive, and 1.1.0, whose
//     package is a compressed tar archive.
func startRegistry(t testing.TB) *registry {
	t.Helper()
	r := &registry{}
	files := map[string][]byte{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		content, ok := files[request.URL.Path]
		if location, isLocation := strings.CutPrefix(string(content), "location "); ok && isLocation {
			w.Header().Set("X-Terraform-Get", location)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !ok {
			http.NotFound(w, request)
			return
		}
		if strings.HasSuffix(request.URL.Path, "versions") || strings.Contains(request.URL.Path, "/download/") ||
			strings.HasSuffix(request.URL.Path, ".json") {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	r.host = strings.TrimPrefix(server.URL, "https://")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	r.env = []string{"SSL_CERT_FILE=" + ca}

	files["/.well-known/terraform.json"] = []byte(`{"providers.v1": "/providers/", "modules.v1": "/modules/"}`)
	files["/providers/acme/single/versions"] = []byte(`{"versions": [{"version": "1.0.0", "protocols": ["5.0"], "platforms": []}]}`)
	files["/providers/acme/several/versions"] = []byte(`{"warnings": ["it moves", "it is old"], "versions": [
		{"version": "1.10.0", "protocols": ["5.0"], "platforms": []}, {"version": "1.2.0", "protocols": ["5.0"], "platforms": []},
		{"version": "2.0.0-beta1", "protocols": ["5.0"], "platforms": []}
	]}`)
	r.addReleases(t, files)
	files["/modules/acme/net/cloud/versions"] = []byte(`{"modules": [{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}]}]}`)
	files["/modules/acme/net/cloud/1.1.0/download"] = []byte("location https://" + r.host + "/module.tar.gz//inner")
	files["/module.tar.gz"] = tarred(t, "inner/main.tf", "")
	files["/modules/acme/net/cloud/1.0.0/download"] = []byte("location https://" + r.host + "/module.zip//inner")
	files["/module.zip"] = zipped(t, "inner/main.tf", "# zipped")
	files["/module"], files["/hostile.zip"], files["/damaged.zip"] = files["/module.zip"], zipped(t, "../main.tf", ""), []byte("PK")
	return r
}

// addReleases adds packages of acme/single for two platforms, and the signed list of their hashes.
func (r *registry) addReleases(t testing.TB, files map[string][]byte) {
	t.Helper()
	var sums strings.Builder
	shasums := map[string]string{}
	for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
		name := "terraform-provider-single_1.0.0_" + platform + ".zip"
		content := zipped(t, "terraform-provider-single_v1.0.0", "the program for "+platform)
		files["/packages/"+name] = content
		shasums[platform] = fmt.Sprintf("%x", sha256.Sum256(content))
		fmt.Fprintf(&sums, "%s  %s\n", shasums[platform], name)
	}
	r.hash = "zh:" + shasums["linux_amd64"]
	entity, err := openpgp.NewEntity("acme", "", "acme@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var signature, key bytes.Buffer
	if err := openpgp.DetachSign(&signature, entity, strings.NewReader(sums.String()), nil); err != nil {
		t.Fatal(err)
	}
	w, err := armor.Encode(&key, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := entity.Serialize(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files["/packages/sums"], files["/packages/sums.sig"] = []byte(sums.String()), signature.Bytes()
	for platform, shasum := range shasums {
		system, arch, _ := strings.Cut(platform, "_")
		name := "terraform-provider-single_1.0.0_" + platform + ".zip"
		content, err := json.Marshal(map[string]any{
			"protocols": []string{"5.0"}, "os": system, "arch": arch, "filename": name, "download_url": "/packages/" + name, "shasum": shasum,
			"shasums_url": "/packages/sums", "shasums_signature_url": "/packages/sums.sig",
			"signing_keys": map[string]any{
				"gpg_public_keys": []any{map[string]any{"key_id": entity.PrimaryKey.KeyIdString(), "ascii_armor": key.String()}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		files["/providers/acme/single/1.0.0/download/"+system+"/"+arch] = content
	}
}

// zipped returns an archive with one file, which can be executed.
func zipped(t testing.TB, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	entry := &zip.FileHeader{Name: name}
	entry.SetMode(0o755)
	w, err := archive.CreateHeader(entry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarred returns a compressed archive with one file.
func tarred(t testing.TB, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	archive := tar.NewWriter(compressed)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

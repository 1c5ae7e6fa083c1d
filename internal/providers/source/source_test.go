// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
	"github.com/cairnstacks/cairn/internal/unpack"
)

var platform = release.Platform{OS: "os", Arch: "arch"}

func id(t testing.TB, addr, version string) (id release.ID) {
	t.Helper()
	var err error
	if id.Provider, err = release.ParseProvider(addr); err == nil {
		id.Version, err = release.ParseVersion(version)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// get finds a package and fetches it. It reports files that are left if that fails.
func get(t *testing.T, from source.Source, id release.ID, opts source.FetchOptions) (dir string, hash release.Hash, err error) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "package")
	found, err := from.Package(t.Context(), id, platform)
	if err == nil {
		hash, err = found.Fetch(t.Context(), dir, opts)
	}
	left, readErr := os.ReadDir(top)
	if want := map[bool]int{true: 0, false: 1}[err != nil]; readErr != nil || len(left) != want {
		t.Errorf("%d files are there, want %d: %v, %v", len(left), want, left, readErr)
	}
	return dir, hash, err
}

func TestRegistry(t *testing.T) {
	server := registrytest.Start(t)
	for _, version := range []string{"1.10.0", "1.2.0", "1.2.0-beta"} {
		server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: version, Warnings: []string{"It is old."}})
	}
	from := source.Registry{Client: server.Registries(nil)}
	wanted := id(t, server.Host+"/foo/bar", "1.10.0")
	available, err := from.Versions(t.Context(), wanted.Provider)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(available.Versions); got != "[1.2.0-beta 1.2.0 1.10.0]" || !slices.Equal(available.Notices, []string{"It is old."}) {
		t.Errorf("got %s, %q", got, available.Notices)
	}
	found, err := from.Package(t.Context(), wanted, platform)
	if err != nil {
		t.Fatal(err)
	}
	if found.Signed == nil || found.Signed.Official || found.Signed.KeyID != server.Key.PrimaryKey.KeyIdString() ||
		len(found.Signed.Hashes) != 1 {
		t.Errorf("got %v", found.Signed)
	}
	for _, allowed := range [][]release.Hash{nil, {found.Signed.Hashes[0]}, {"h1:other", found.Signed.Hashes[0]}} {
		dir, hash, err := get(t, from, wanted, source.FetchOptions{Allowed: allowed})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := release.HashContent(dir); err != nil || again != hash {
			t.Errorf("the hash is %s, and said to be %s (%v)", again, hash, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "terraform-provider-bar_v1.10.0")); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("the program cannot be run: %v", err)
		}
		if _, _, err := get(t, from, wanted, source.FetchOptions{Allowed: []release.Hash{hash}}); err != nil {
			t.Errorf("with the hash of the content: %v", err)
		}
	}
	if _, err := from.Versions(t.Context(), id(t, server.Host+"/foo/none", "1.0.0").Provider); !errors.Is(err, source.ErrNoProvider) {
		t.Errorf("got %v, want ErrNoProvider", err)
	}
	if _, err := from.Package(t.Context(), wanted, release.Platform{OS: "other", Arch: "arch"}); !errors.Is(err, source.ErrNoPackage) {
		t.Errorf("got %v, want ErrNoPackage", err)
	}
}

// Behaviour that registries must not have, and some that they may.
func TestRegistryHostile(t *testing.T) {
	archive := func(files ...registrytest.File) map[string][]byte {
		return map[string][]byte{"os_arch": registrytest.Zip(t, files...)}
	}
	set := func(name string, value any) func(map[string]any) {
		return func(answer map[string]any) { answer[name] = value }
	}
	other := registrytest.Start(t)
	for name, test := range map[string]struct {
		release registrytest.Release
		change  func(*registrytest.Server)
		want    string
	}{
		"other key": {registrytest.Release{
			Change: set("signing_keys", map[string]any{"gpg_public_keys": []any{map[string]any{"ascii_armor": other.PublicKey(t)}}}),
		}, nil, "none of the keys"},
		"no keys": {registrytest.Release{Change: set("signing_keys", nil)}, nil, "gives no key"},
		"bad key": {
			registrytest.Release{Change: set("signing_keys", map[string]any{"gpg_public_keys": []any{map[string]any{"ascii_armor": "x"}}})},
			nil,
			"cannot be read",
		},
		"bad signature": {
			registrytest.Release{Signature: func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
			nil,
			"signature of the checksums is wrong",
		},
		"no signature":         {registrytest.Release{Signature: func([]byte) []byte { return nil }}, nil, "has signed the checksums"},
		"no signature address": {registrytest.Release{Change: set("shasums_signature_url", "")}, nil, "gives no address of the signature"},
		"changed sums": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Answer("/files/bar_1.0.0_SHA256SUMS", strings.Repeat("0", 64)+"  terraform-provider-bar_1.0.0_os_arch.zip\n")
		}, "signature of the checksums is wrong"},
		"not in sums": {registrytest.Release{Sums: func([]byte) []byte { return []byte("x  y\n") }}, nil, "does not have"},
		"other sum": {
			registrytest.Release{Sums: func(b []byte) []byte { return append(bytes.Repeat([]byte("0"), 64), b[64:]...) }},
			nil,
			"another checksum",
		},
		"other archive": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Answer("/files/terraform-provider-bar_1.0.0_os_arch.zip", "something else")
		}, "none of the checksums that its source gives"},
		"bad sum":        {registrytest.Release{Change: set("shasum", "abc")}, nil, "not a SHA-256 sum"},
		"old protocol":   {registrytest.Release{Change: set("protocols", []string{"4.0"})}, nil, "only 5 and 6"},
		"other platform": {registrytest.Release{Change: set("os", "other")}, nil, "it is for"},
		"no encryption":  {registrytest.Release{Change: set("download_url", "http://example.com/x.zip")}, nil, "not an https address"},
		"file":           {registrytest.Release{Change: set("download_url", "file:///etc/passwd")}, nil, "not an https address"},
		"bad address":    {registrytest.Release{Change: set("download_url", "https://x:y:z/")}, nil, "address cannot be read"},
		"wrong type":     {registrytest.Release{Change: set("filename", 7)}, nil, "cannot be understood"},
		"leads out":      {registrytest.Release{Archives: archive(registrytest.File{Name: "../x"})}, nil, "leads out of it"},
		"no archive":     {registrytest.Release{Archives: map[string][]byte{"os_arch": []byte("<html>")}}, nil, "no zip archive"},
		"huge": {
			registrytest.Release{Archives: archive(registrytest.File{Name: "x", Content: strings.Repeat("x", 2<<20)})},
			nil,
			"too large",
		},
		"cut off": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte("x"))
			})
		}, "cut off"},
		"stalls": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush() //nolint:forcetypeassert // a test's server
				<-r.Context().Done()
			})
		}, "stands still"},
		"gone": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", http.NotFound)
		}, "has no archive"},
		"loop": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
			})
		}, "redirect"},
		"error": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/providers/foo/bar/1.0.0/download/os/arch", func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "no", http.StatusInternalServerError)
			})
		}, "500"},
		"refused": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/providers/foo/bar/1.0.0/download/os/arch", func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "no", http.StatusUnauthorized)
			})
		}, "refuses access"},
		"no JSON": {
			registrytest.Release{},
			func(s *registrytest.Server) { s.Answer("/providers/foo/bar/1.0.0/download/os/arch", "<html>") },
			"cannot be understood",
		},
		"no service": {
			registrytest.Release{},
			func(s *registrytest.Server) { s.Answer("/.well-known/terraform.json", "{}") },
			"no registry for providers",
		},
		"no discovery": {
			registrytest.Release{},
			func(s *registrytest.Server) { s.Handle("/.well-known/terraform.json", http.NotFound) },
			"does not offer service discovery",
		},
		"endless": {registrytest.Release{}, func(s *registrytest.Server) {
			s.Handle("/.well-known/terraform.json", func(w http.ResponseWriter, _ *http.Request) {
				for i := 0; i < 20; i++ {
					_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
				}
			})
		}, "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := registrytest.Start(t)
			test.release.Namespace, test.release.Type, test.release.Version = "foo", "bar", "1.0.0"
			server.Publish(t, test.release)
			if test.change != nil {
				test.change(server)
			}
			from := source.Registry{Client: server.Registries(nil)}
			_, _, err := get(t, from, id(t, server.Host+"/foo/bar", "1.0.0"), source.FetchOptions{
				Limits: unpack.Limits{Bytes: 1 << 20},
				Stall:  200 * time.Millisecond,
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// Signatures are accepted that terraform 1.11.4 accepts: a key may have expired since, a signature
// may not.
func TestSignatures(t *testing.T) {
	ago := func(d time.Duration) func() time.Time {
		return func() time.Time { return time.Now().Add(-d) }
	}
	for name, test := range map[string]struct {
		key, sign packet.Config
		revoke    bool
		want      string
	}{
		"ordinary": {},
		"expired key": {
			key:  packet.Config{Time: ago(48 * time.Hour), KeyLifetimeSecs: 3600},
			sign: packet.Config{Time: ago(47*time.Hour + 30*time.Minute)},
		},
		"expired signature": {
			key:  packet.Config{Time: ago(48 * time.Hour)},
			sign: packet.Config{Time: ago(20 * time.Hour), SigLifetimeSecs: 60},
			want: "signature expired",
		},
		"both": {
			key:  packet.Config{Time: ago(48 * time.Hour), KeyLifetimeSecs: 3600},
			sign: packet.Config{Time: ago(47*time.Hour + 30*time.Minute), SigLifetimeSecs: 60},
			want: "expired",
		},
		"revoked key": {revoke: true, want: "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			server := registrytest.Start(t)
			test.key.Algorithm = packet.PubKeyAlgoEdDSA
			key, err := openpgp.NewEntity("publisher", "", "publisher@example.com", &test.key)
			if err != nil {
				t.Fatal(err)
			}
			server.Key, server.SignConfig = key, &test.sign
			server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.0.0", Change: func(answer map[string]any) {
				if test.revoke { // after it has signed
					if err := key.RevokeKey(packet.KeyCompromised, "stolen", nil); err != nil {
						t.Fatal(err)
					}
					answer["signing_keys"] = map[string]any{"gpg_public_keys": []any{map[string]any{"ascii_armor": server.PublicKey(t)}}}
				}
			}})
			official := hex.EncodeToString(key.PrimaryKey.Fingerprint)
			found, err := source.Registry{
				Client:      server.Registries(nil),
				OfficialKey: official,
			}.Package(t.Context(), id(t, server.Host+"/foo/bar", "1.0.0"), platform)
			switch {
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			case test.want == "" && (err != nil || !found.Signed.Official):
				t.Errorf("got %v, want an official package", err)
			}
		})
	}
}

// A registry that may have packages without keys has those with keys checked all the same.
func TestKeyless(t *testing.T) {
	none := func(answer map[string]any) { answer["signing_keys"] = map[string]any{"gpg_public_keys": []any{}} }
	for name, test := range map[string]struct {
		release registrytest.Release
		keyless bool // the registry, else another one
		want    string
	}{
		"without a key":       {registrytest.Release{Change: none}, true, ""},
		"of another registry": {registrytest.Release{Change: none}, false, "gives no key"},
		"with a bad signature": {registrytest.Release{Signature: func(b []byte) []byte { b[len(b)-1] ^= 1; return b }}, true, "signature of " +
			"the checksums is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			server := registrytest.Start(t)
			test.release.Namespace, test.release.Type, test.release.Version = "foo", "bar", "1.0.0"
			server.Publish(t, test.release)
			from := source.Registry{Client: server.Registries(nil), Keyless: "other.example.com"}
			if test.keyless {
				from.Keyless = server.Host
			}
			found, err := from.Package(t.Context(), id(t, server.Host+"/foo/bar", "1.0.0"), platform)
			if test.want == "" && (err != nil || found.Signed != nil) || test.want != "" &&
				(err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, %v, want %q", found, err, test.want)
			}
		})
	}
}

// Tokens are for their host alone.
func TestRegistryToken(t *testing.T) {
	server, elsewhere := registrytest.Start(t), registrytest.Start(t)
	release := registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.0.0"}
	elsewhere.Publish(t, release)
	release.Change = func(answer map[string]any) {
		answer["download_url"] = "https://" + elsewhere.Host + "/files/terraform-provider-bar_1.0.0_os_arch.zip"
	}
	server.Publish(t, release)
	client := server.Registries(nil)
	wanted := id(t, server.Host+"/foo/bar", "1.0.0")
	for _, token := range []string{"", "open-sesame"} {
		if token != "" {
			client.SetToken("other.example.com", "wrong")
			client.SetToken(hostname(t, server.Host), token)
		}
		if _, _, err := get(t, source.Registry{Client: client}, wanted, source.FetchOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := server.Requests(token); len(got) != 4 {
			t.Errorf("the registry was asked with the token for %q, want services, package and two files", got)
		}
		if got := elsewhere.Requests(""); len(got) != 1 {
			t.Errorf("another host was asked without a token for %q, want the archive", got)
		}
	}
}

// A token does not follow a redirect to another host, and is in no error, for any answer of the
// registry.
func TestTokenStaysSecret(t *testing.T) {
	server, elsewhere := registrytest.Start(t), registrytest.Start(t)
	wanted := id(t, server.Host+"/foo/bar", "1.0.0")
	const token = "open-sesame"
	answers := map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+elsewhere.Host+r.URL.Path+"?token="+token, http.StatusFound)
		},
		"refuses": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusForbidden)
		},
		"busy": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusTooManyRequests)
		},
		"broken":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"garbage": func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Authorization")) },
		"loop": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"?"+token, http.StatusFound)
		},
		"plain": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+token+"/", http.StatusFound)
		},
	}
	for name, answer := range answers {
		client := server.Registries(nil)
		client.SetToken(hostname(t, server.Host), token)
		for _, path := range []string{"/providers/foo/bar/versions", "/providers/foo/bar/1.0.0/download/os/arch"} {
			server.Handle(path, answer)
		}
		from := source.Registry{Client: client}
		_, err := from.Versions(t.Context(), wanted.Provider)
		_, packageErr := from.Package(t.Context(), wanted, platform)
		for _, err := range []error{err, packageErr} {
			if err == nil || strings.Contains(err.Error(), token) {
				t.Errorf("%s: the error is %v", name, err)
			}
		}
		if got := elsewhere.Requests(token); len(got) > 0 {
			t.Errorf("%s: another host gets the token for %q", name, got)
		}
	}
}

func hostname(t *testing.T, host string) svchost.Hostname {
	t.Helper()
	name, err := svchost.ForComparison(host)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// mirrorDir is a mirror with one package as an archive and one unpacked.
func mirrorDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"example.com/foo/bar/terraform-provider-bar_1.0.0_os_arch.zip":    registrytest.Program(t, "bar", "1.0.0"),
		"example.com/foo/bar/2.0.0/os_arch/terraform-provider-bar_v2.0.0": []byte("program"),
		"example.com/foo/bar/notes.txt":                                   nil,
		"example.com/foo/empty/x":                                         nil,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDirectory(t *testing.T) {
	from := source.Directory{Path: mirrorDir(t)}
	available, err := from.Versions(t.Context(), id(t, "example.com/foo/bar", "1.0.0").Provider)
	if err != nil || fmt.Sprint(available.Versions) != "[1.0.0 2.0.0]" {
		t.Errorf("got %v, %v", available, err)
	}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		wanted := id(t, "example.com/foo/bar", version)
		dir, hash, err := get(t, from, wanted, source.FetchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if programs, err := filepath.Glob(filepath.Join(dir, "terraform-provider-bar_v"+version)); err != nil || len(programs) != 1 {
			t.Errorf("got %q, %v", programs, err)
		}
		for name, test := range map[string]struct {
			allowed []release.Hash
			fits    bool
		}{
			"its hash":      {[]release.Hash{"h1:x", hash}, true},
			"other":         {[]release.Hash{"h1:x"}, false},
			"other archive": {[]release.Hash{"zh:x"}, version == "2.0.0"}, // which is no archive
			"unknown":       {[]release.Hash{"x:x"}, false},
		} {
			_, _, err := get(t, from, wanted, source.FetchOptions{Allowed: test.allowed})
			mismatch, _ := errors.AsType[*source.MismatchError](err)
			if (err == nil) != test.fits || err != nil && (mismatch == nil || !mismatch.Locked) {
				t.Errorf("%s, %s: got %v", version, name, err)
			}
		}
	}
	if _, err := from.Package(t.Context(), id(t, "example.com/foo/bar", "3.0.0"), platform); !errors.Is(err, source.ErrNoPackage) {
		t.Errorf("got %v", err)
	}
	for _, addr := range []string{"example.com/foo/empty", "example.com/foo/none"} {
		if _, err := from.Versions(t.Context(), id(t, addr, "1.0.0").Provider); !errors.Is(err, source.ErrNoProvider) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNetwork(t *testing.T) {
	server := registrytest.Start(t)
	program := registrytest.Program(t, "bar", "1.0.0")
	server.Answer("/mirror/example.com/foo/bar/index.json", `{"versions": {"1.0.0": {}, "0.9.0": {}}}`)
	server.Answer("/mirror/example.com/foo/bar/bar.zip", string(program))
	archives := func(hashes ...string) {
		answer, err := json.Marshal(map[string]any{"archives": map[string]any{"os_arch": map[string]any{"url": "bar.zip", "hashes": hashes}}})
		if err != nil {
			t.Fatal(err)
		}
		server.Answer("/mirror/example.com/foo/bar/1.0.0.json", string(answer))
	}
	archives()
	from, err := source.NewNetwork(server.Registries(nil), "https://"+server.Host+"/mirror")
	if err != nil {
		t.Fatal(err)
	}
	wanted := id(t, "example.com/foo/bar", "1.0.0")
	available, err := from.Versions(t.Context(), wanted.Provider)
	if err != nil || fmt.Sprint(available.Versions) != "[0.9.0 1.0.0]" {
		t.Errorf("got %v, %v", available, err)
	}
	_, hash, err := get(t, from, wanted, source.FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	archives("x:y", "h1:other", string(hash))
	if _, _, err := get(t, from, wanted, source.FetchOptions{}); err != nil {
		t.Error(err)
	}
	archives("h1:other")
	if _, _, err := get(t, from, wanted, source.FetchOptions{Allowed: []release.Hash{hash}}); err == nil ||
		!strings.Contains(err.Error(), "its source gives") {
		t.Errorf("got %v", err)
	}
	if _, err := from.Package(t.Context(), id(t, "example.com/foo/bar", "0.9.0"), platform); !errors.Is(err, source.ErrNoPackage) {
		t.Errorf("got %v", err)
	}
	if _, err := from.Package(t.Context(), wanted, release.Platform{OS: "x", Arch: "y"}); !errors.Is(err, source.ErrNoPackage) {
		t.Errorf("got %v", err)
	}
	if _, err := from.Versions(t.Context(), id(t, "example.com/foo/none", "1.0.0").Provider); !errors.Is(err, source.ErrNoProvider) {
		t.Errorf("got %v", err)
	}
	for _, address := range []string{"http://example.com/", "example.com", "https:///x", ":"} {
		if _, err := source.NewNetwork(server.Registries(nil), address); err == nil {
			t.Errorf("%q: no error", address)
		}
	}
}

func TestSeveral(t *testing.T) {
	first, second := source.Directory{Path: t.TempDir()}, source.Directory{Path: mirrorDir(t)}
	from := source.Several{first, second}
	wanted := id(t, "example.com/foo/bar", "1.0.0")
	if available, err := from.Versions(t.Context(), wanted.Provider); err != nil || len(available.Versions) != 2 {
		t.Errorf("got %v, %v", available, err)
	}
	if _, _, err := get(t, from, wanted, source.FetchOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := from.Package(t.Context(), id(t, "example.com/foo/bar", "9.0.0"), platform); !errors.Is(err, source.ErrNoPackage) {
		t.Errorf("got %v", err)
	}
	if _, err := (source.Several{}).Versions(t.Context(), wanted.Provider); !errors.Is(err, source.ErrNoProvider) ||
		!strings.Contains(err.Error(), "no source") {
		t.Errorf("got %v", err)
	}
}

func TestFetchCancelled(t *testing.T) {
	server := registrytest.Start(t)
	server.Publish(t, registrytest.Release{Namespace: "foo", Type: "bar", Version: "1.0.0"})
	began := make(chan struct{})
	server.Handle("/files/terraform-provider-bar_1.0.0_os_arch.zip", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush() //nolint:forcetypeassert // a test's server
		close(began)
		<-r.Context().Done()
	})
	found, err := source.Registry{Client: server.Registries(nil)}.Package(t.Context(), id(t, server.Host+"/foo/bar", "1.0.0"), platform)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	go func() {
		<-began
		cancel(reason)
	}()
	if _, err := found.Fetch(ctx, filepath.Join(t.TempDir(), "x"), source.FetchOptions{}); !errors.Is(err, reason) {
		t.Errorf("got %v, want the reason of the cancellation", err)
	}
}

// For any answer of a registry, there is a package or an error, and no panic.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte(`{"versions": [{"version": "1.0.0"}]}`),
		[]byte(`{"os": "os", "arch": "arch", "shasum": "x", "download_url": "/x", "shasums_url": "/s"}`), []byte("sums"), []byte("signature"))
	f.Add([]byte(`[]`), []byte(`{"signing_keys": {"gpg_public_keys": [{"ascii_armor": "-----BEGIN PGP PUBLIC KEY BLOCK-----"}]}}`),
		[]byte{}, []byte{})
	server := registrytest.Start(f)
	f.Fuzz(func(t *testing.T, versions, answer, sums, signature []byte) {
		server.Answer("/providers/foo/bar/versions", string(versions))
		server.Answer("/providers/foo/bar/1.0.0/download/os/arch", string(answer))
		server.Answer("/s", string(sums))
		server.Answer("/t", string(signature))
		from := source.Registry{Client: server.Registries(nil)}
		wanted := id(t, server.Host+"/foo/bar", "1.0.0")
		if available, err := from.Versions(t.Context(), wanted.Provider); (available == nil) == (err == nil) {
			t.Errorf("got %v, %v", available, err)
		}
		if found, err := from.Package(t.Context(), wanted, platform); err == nil {
			t.Errorf("a package that nobody has signed is found: %v", found)
		}
	})
}

// For any answer of a mirror, there is a package with the right checksum or an error, and nothing
// but that package is made.
func FuzzNetwork(f *testing.F) {
	program := registrytest.Program(f, "bar", "1.0.0")
	f.Add([]byte(`{"versions": {"1.0.0": {}}}`), []byte(`{"archives": {"os_arch": {"url": "bar.zip", "hashes": ["h1:x", "zh:y"]}}}`), program)
	f.Add([]byte(`{"versions": {"../1.0.0": {}}}`), []byte(`{"archives": {"os_arch": {"url": "./bar.zip"}}}`), program)
	f.Add([]byte(`{"versions": []}`), []byte(`{"archives": {"os_arch": {"url": "//x:y@/bar.zip#?"}}}`), []byte("PK"))
	server := registrytest.Start(f)
	from, err := source.NewNetwork(server.Registries(nil), "https://"+server.Host+"/mirror/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, index, version, archive []byte) {
		server.Answer("/mirror/example.com/foo/bar/index.json", string(index))
		server.Answer("/mirror/example.com/foo/bar/1.0.0.json", string(version))
		server.Answer("/mirror/example.com/foo/bar/bar.zip", string(archive))
		wanted := id(t, "example.com/foo/bar", "1.0.0")
		if available, err := from.Versions(t.Context(), wanted.Provider); (available == nil) == (err == nil) {
			t.Errorf("got %v, %v", available, err)
		}
		found, err := from.Package(t.Context(), wanted, platform)
		if err != nil || !strings.HasPrefix(found.Location(), "https://"+server.Host+"/") {
			return
		}
		fetchAll(t, found)
	})
}

// An archive with any content is unpacked as a whole into its place, or there is an error and
// nothing.
func FuzzArchive(f *testing.F) {
	f.Add(registrytest.Program(f, "bar", "1.0.0"))
	f.Add(registrytest.Zip(f, registrytest.File{Name: "../x", Content: "x"}))
	f.Add(registrytest.Zip(f, registrytest.File{Name: "x/"}, registrytest.File{Name: "x", Content: "x"}))
	f.Add(registrytest.Zip(f, registrytest.File{Name: "x", Content: "x"}, registrytest.File{Name: "x", Content: "y"},
		registrytest.File{Name: "a\\b"}, registrytest.File{Name: "a\nb"}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir := t.TempDir()
		provider := filepath.Join(dir, "example.com", "foo", "bar")
		err := os.MkdirAll(provider, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(provider, "terraform-provider-bar_1.0.0_os_arch.zip"), archive, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := source.Directory{Path: dir}.Package(t.Context(), id(t, "example.com/foo/bar", "1.0.0"), platform)
		if err != nil {
			t.Fatal(err)
		}
		fetchAll(t, found)
	})
}

// fetchAll fetches a package in both ways, and checks the files after that.
func fetchAll(t *testing.T, found *source.Package) {
	t.Helper()
	dir := t.TempDir()
	opts := source.FetchOptions{Limits: unpack.Limits{Bytes: 1 << 20, Files: 100}, Stall: time.Second}
	hash, err := found.Fetch(t.Context(), filepath.Join(dir, "unpacked"), opts)
	if content, hashErr := release.HashContent(filepath.Join(dir, "unpacked")); (err == nil) != (hashErr == nil) || content != hash {
		t.Errorf("fetched is %s with %v, and there is %s, %v", hash, err, content, hashErr)
	}
	if err == nil {
		again := opts
		again.Allowed = []release.Hash{"h1:other"}
		if _, err := found.Fetch(t.Context(), filepath.Join(dir, "other"), again); err == nil {
			t.Error("a package is taken that is not the one that is locked")
		}
	}
	_, savedErr := found.Save(t.Context(), filepath.Join(dir, "saved"), opts)
	entries, listErr := os.ReadDir(dir)
	want := 0
	for _, err := range []error{err, savedErr} {
		if err == nil {
			want++
		}
	}
	if listErr != nil || len(entries) != want {
		t.Errorf("there is %v (%v), want %d; fetching: %v, saving: %v", entries, listErr, want, err, savedErr)
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/safehcl"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// newCorpusDir returns a copy of testdata/dir with the files that do not belong in a repository:
// keys, odd bytes, links.
func newCorpusDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpus")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.CopyFS(dir, os.DirFS("testdata/dir")))
	write := func(name string, content []byte) {
		t.Helper()
		check(os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	write("binary.dat", []byte{0xff, 0xfe, 0x00, 0x80})
	write("crlf.txt", []byte("a\r\nb\r\n"))
	write("bom.txt", []byte("\ufeffa"))
	check(os.Symlink("hello.txt", filepath.Join(dir, "link.txt")))
	check(os.Symlink("sub", filepath.Join(dir, "linkdir")))
	check(os.Symlink("nothing", filepath.Join(dir, "broken-link")))

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	//nolint:staticcheck // SA1019: rsadecrypt decrypts this padding
	ciphertext, err := rsa.EncryptPKCS1v15(rand.Reader, &key.PublicKey, []byte("secret"))
	check(err)
	openssh, err := ssh.MarshalPrivateKey(key, "")
	check(err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	check(err)
	ec, err := x509.MarshalECPrivateKey(elliptical)
	check(err)
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	write("key.pem", encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)))
	write("other.pem", encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(other)))
	write("key.pkcs8", encode("PRIVATE KEY", pkcs8))
	write("ecdsa.pem", encode("EC PRIVATE KEY", ec))
	write("key.openssh", pem.EncodeToMemory(openssh))
	write("cipher.b64", []byte(base64.StdEncoding.EncodeToString(ciphertext)))
	return dir
}

// corpusScopes are for the expressions of the corpus.
type corpusScopes struct {
	dir           string
	console, plan *hcl.EvalContext
}

// newCorpusScopes evaluates the locals of testdata/dir/main.tf with our functions.
func newCorpusScopes(t testing.TB, dir string) corpusScopes {
	t.Helper()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	scope := &hcl.EvalContext{
		Functions: Functions(Options{BaseDir: dir, PlanTimestamp: now}),
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{"ephemeral": cty.StringVal("fleeting").Mark(marks.Ephemeral)}),
			"terraform_data": cty.ObjectVal(map[string]cty.Value{
				"unknown": cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String).RefineNotNull()}),
			}),
		},
	}
	parsed, diags := hclparse.NewParser().ParseHCLFile(filepath.Join(dir, "main.tf"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	locals := map[string]cty.Value{}
	for _, block := range parsed.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "locals" {
			continue
		}
		for name, attribute := range block.Body.Attributes {
			value, diags := attribute.Expr.Value(scope)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			locals[name] = value
		}
	}
	scope.Variables["local"] = cty.ObjectVal(locals)
	planning := &hcl.EvalContext{Functions: Functions(Options{BaseDir: dir, PlanTimestamp: now, PureOnly: true}), Variables: scope.Variables}
	return corpusScopes{dir, scope, planning}
}

func parseExpression(t testing.TB, source string) hclsyntax.Expression {
	t.Helper()
	expr, diags := safehcl.ParseExpression([]byte(source), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("cannot parse %s: %s", source, diags)
	}
	return expr
}

// evaluate returns our outcome for the entry, as terraform's console and plan write it.
func (s corpusScopes) evaluate(t testing.TB, entry corpusEntry) outcome {
	t.Helper()
	expr := parseExpression(t, entry.expr)
	value, diags := expr.Value(s.console)
	if diags.HasErrors() {
		return outcome{fails: true}
	}
	entry.outcome = outcome{typ: consoleType(value.Type(), 0), value: consoleValue(value, 0)}
	if !entry.isPlannable() {
		return withoutDir(entry.outcome, s.dir)
	}
	planned, diags := expr.Value(s.plan)
	if diags.HasErrors() {
		t.Errorf("%s fails in a plan only: %s", entry.expr, diags)
		return entry.outcome
	}
	entry.plan = planText(planned)
	return withoutDir(entry.outcome, s.dir)
}

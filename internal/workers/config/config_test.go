// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
)

// keys are of one kind each.
type keys struct {
	run  envelope.RunKey
	pool envelope.PoolKey
}

func newKeys(t *testing.T) keys {
	t.Helper()
	run, err := envelope.NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := envelope.NewPoolKey()
	if err != nil {
		t.Fatal(err)
	}
	return keys{run, pool}
}

// fill puts public keys in the place of their names.
func (k keys) fill(text string) string {
	return strings.NewReplacer("RUN-PUBLIC", k.run.Public().String(), "POOL-PUBLIC", k.pool.Recipient()).Replace(text)
}

// decode reads a file with a block, and returns the diagnostics as "SUMMARY: SOURCE TEXT" each.
func decode(t *testing.T, text string) (c *config.Config, dir string, diags []string) {
	t.Helper()
	dir = t.TempDir()
	name := filepath.Join(dir, "workers.hcl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files := map[string]*hcl.File{}
	c, found := config.ReadFile(name, files)
	for _, diag := range found {
		place := "nowhere"
		if diag.Subject != nil {
			if files[diag.Subject.Filename] == nil {
				t.Errorf("the file %s is not known", diag.Subject.Filename)
			}
			place = string(diag.Subject.SliceBytes([]byte(text)))
		}
		diags = append(diags, fmt.Sprintf("%s: %s", diag.Summary, place))
	}
	return c, dir, diags
}

const fullBlock = `
# Something else is for somebody else.
other "block" {}

workers "temporal" {
  address   = "temporal.internal:7233"
  namespace = "ours"
  records   = "s3://bucket/prefix"
  trusted   = "RUN-PUBLIC"

  tls {
    cert        = "client.pem"
    key         = "/etc/cairn/client.key"
    ca          = "../ca.pem"
    server_name = "temporal"
  }

  pool "prod" {
    namespace   = "prod"
    recipient   = "POOL-PUBLIC"
    deployments = ["prod-*", "live"]
  }

  pool "big" {
    recipient = "POOL-PUBLIC"
    tags      = ["large"]
  }

  pool "default" {
    recipient = "POOL-PUBLIC"
  }
}
`

func TestFullBlock(t *testing.T) {
	k := newKeys(t)
	c, dir, diags := decode(t, k.fill(fullBlock))
	if diags != nil {
		t.Fatalf("got the diagnostics %q", diags)
	}
	if c.Address != "temporal.internal:7233" || c.Namespace != "ours" || c.Records != "s3://bucket/prefix" || c.Trusted != k.run.Public() {
		t.Errorf("got %+v", c)
	}
	want := &config.TLS{
		Cert: filepath.Join(dir, "client.pem"), Key: "/etc/cairn/client.key", CA: filepath.Join(filepath.Dir(dir), "ca.pem"),
		ServerName: "temporal",
	}
	if diff := cmp.Diff(want, c.TLS); diff != "" {
		t.Errorf("TLS (-want +got):\n%s", diff)
	}
	var pools []string
	for _, p := range c.Pools {
		pools = append(pools, p.Name+" in "+p.Namespace)
		if string(p.Recipient) != k.pool.Recipient() {
			t.Errorf("the pool %s has the recipient %s", p.Name, p.Recipient)
		}
	}
	if diff := cmp.Diff([]string{"prod in prod", "big in ours", "default in ours"}, pools); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	for _, row := range []struct {
		deployment string
		tags       []string
		want       string
	}{
		{"prod-eu", nil, "prod"},
		{"live", nil, "prod"},
		{"production", nil, "default"},
		{"test", []string{"large"}, "big"},
		{"test", []string{"small", "large"}, "big"},
		{"prod-eu", []string{"large"}, "prod"}, // the first one in the file
		{"", []string{"large"}, "big"},         // a root module
		{"", nil, "default"},
	} {
		if got := c.For(row.deployment, row.tags); got == nil || got.Name != row.want {
			t.Errorf("For(%q, %q) = %+v, want %s", row.deployment, row.tags, got, row.want)
		}
	}
}

const leastBlock = `workers "temporal" {
  address = "localhost:7233"
  records = "./records"
  trusted = "RUN-PUBLIC"
  pool "prod" {
    recipient   = "POOL-PUBLIC"
    deployments = ["prod"]
  }
}
`

func TestLeastBlock(t *testing.T) {
	c, _, diags := decode(t, newKeys(t).fill(leastBlock))
	if diags != nil {
		t.Fatalf("got the diagnostics %q", diags)
	}
	if c.Namespace != "cairn" || c.TLS != nil || c.Pools[0].Namespace != "cairn" {
		t.Errorf("got %+v", c)
	}
	if got := c.For("test", nil); got != nil {
		t.Errorf("For(test) = %+v, want none", got)
	}
	if got := c.Pool("default"); got != nil {
		t.Errorf("Pool(default) = %+v, want none", got)
	}
}

func TestMistakes(t *testing.T) {
	k := newKeys(t)
	for name, row := range map[string]struct {
		old, changed string
		want         []string
	}{
		"syntax":              {`records =`, `records`, []string{"Invalid block definition: \n"}},
		"no block":            {`workers "temporal"`, `others "temporal"`, []string{"Workers not read: nowhere"}},
		"no kind":             {`workers "temporal"`, `workers`, []string{"Invalid workers: workers"}},
		"another kind":        {`workers "temporal"`, `workers "river"`, []string{`Invalid workers: workers "river"`}},
		"two labels":          {`workers "temporal"`, `workers "temporal" "a"`, []string{`Invalid workers: workers "temporal" "a"`}},
		"no address":          {`address = "localhost:7233"`, ``, []string{"Missing required argument: "}},
		"empty address":       {`"localhost:7233"`, `""`, []string{`Invalid address: ""`}},
		"null address":        {`"localhost:7233"`, `null`, []string{`Unsuitable value type: null`}},
		"no port":             {`"localhost:7233"`, `"localhost"`, []string{`Invalid address: "localhost"`}},
		"address of a number": {`"localhost:7233"`, `[1]`, []string{`Unsuitable value type: [`}},
		"address by a name":   {`"localhost:7233"`, `var.address`, []string{`Variables not allowed: var`, `Unsuitable value type: var.address`}},
		"no records":          {`records = "./records"`, ``, []string{"Missing required argument: "}},
		"no trusted":          {`trusted = "RUN-PUBLIC"`, ``, []string{"Missing required argument: "}},
		"trusted pool":        {`"RUN-PUBLIC"`, `"POOL-PUBLIC"`, []string{`Invalid key: "POOL-PUBLIC"`}},
		"unknown argument":    {`records =`, "colour = 1\nrecords =", []string{"Unsupported argument: colour"}},
		"unknown block":       {`pool "prod"`, `tank "prod"`, []string{"Unsupported block type: tank"}},
		"two connections":     {`pool "prod"`, "tls {}\ntls {}\npool \"prod\"", []string{`Duplicate tls block: tls`}},
		"unknown in tls":      {`pool "prod"`, "tls {\nthumb = \"\"\n}\npool \"prod\"", []string{`Unsupported argument: thumb`}},
		"pool without a name": {`pool "prod"`, `pool`, []string{"Missing name for pool: {"}},
		"pool twice": {
			`pool "prod"`, "pool \"prod\" {\nrecipient = \"POOL-PUBLIC\"\n}\npool \"prod\"",
			[]string{`Pool declared twice: pool "prod"`},
		},
		"no recipient":     {`recipient   = "POOL-PUBLIC"`, ``, []string{"Missing required argument: "}},
		"recipient of run": {`"POOL-PUBLIC"`, `"RUN-PUBLIC"`, []string{`Invalid key: "RUN-PUBLIC"`}},
		"pattern":          {`["prod"]`, `["ok", "[", "a["]`, []string{`Invalid pattern: ["ok", "[", "a["]`, `Invalid pattern: ["ok", "[", "a["]`}},
		"deployment":       {`["prod"]`, `"prod"`, []string{`Unsuitable value type: prod`}},
		"no pool": {
			"pool \"prod\" {\n    recipient   = \"POOL-PUBLIC\"\n    deployments = [\"prod\"]\n  }", ``,
			[]string{`No pool: workers "temporal"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(leastBlock, row.old, row.changed, 1)
			if text == leastBlock {
				t.Fatalf("the block has no %q", row.old)
			}
			c, _, diags := decode(t, k.fill(text))
			for i := range row.want {
				row.want[i] = k.fill(row.want[i])
			}
			if diff := cmp.Diff(row.want, diags); diff != "" || c != nil {
				t.Errorf("diagnostics (-want +got):\n%s\nand the configuration %+v", diff, c)
			}
		})
	}
}

func TestReadFileMissing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "missing.hcl")
	_, diags := config.ReadFile(name, map[string]*hcl.File{})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, name) {
		t.Errorf("got %v, want one about %s", diags, name)
	}
}

// A private key in the place of a public one, which happens, is in no message.
func TestPrivateKeyIsNotShown(t *testing.T) {
	k := newKeys(t)
	for public, private := range map[string]string{"RUN-PUBLIC": k.run.Text(), "POOL-PUBLIC": k.pool.Text()} {
		name := filepath.Join(t.TempDir(), "workers.hcl")
		if err := os.WriteFile(name, []byte(k.fill(strings.Replace(leastBlock, public, private, 1))), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := config.ReadFile(name, map[string]*hcl.File{})
		if !diags.HasErrors() || strings.Contains(diags.Error(), private) {
			t.Errorf("got %v, want an error without the key", diags)
		}
	}
}

func TestKeys(t *testing.T) {
	k := newKeys(t)
	inFile := func(content string) string {
		name := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	run, pool := k.run.Text(), k.pool.Text()
	c := config.Config{Trusted: k.run.Public()}
	for name, row := range map[string]struct {
		run, pool string
		want      bool
	}{
		"texts":          {run, pool, true},
		"files":          {inFile("# a comment\n" + run + "\n"), inFile(pool), true},
		"the other ones": {pool, run, false},
		"no keys":        {"nonsense", "nonsense", false},
		"empty files":    {inFile(""), inFile(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{"A=B", config.RunKeyVariable + "=" + row.run, config.PoolKeyVariable + "=" + row.pool}
			gotRun, err := c.RunKey(env)
			if (err == nil) != row.want || err == nil && gotRun.Text() != run {
				t.Errorf("RunKey: got error %v, want a key: %t", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), row.run) {
				t.Errorf("the error has the text: %v", err)
			}
			gotPool, err := config.PoolKey(env)
			if (err == nil) != row.want || err == nil && gotPool.Text() != pool {
				t.Errorf("PoolKey: got error %v, want a key: %t", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), row.pool) {
				t.Errorf("the error has the text: %v", err)
			}
		})
	}
	for variable, read := range map[string]func() error{
		config.RunKeyVariable:  func() error { _, err := c.RunKey(nil); return err },
		config.PoolKeyVariable: func() error { _, err := config.PoolKey([]string{config.PoolKeyVariable + "="}); return err },
	} {
		diags := failure.Diagnostics(read())
		if len(diags) != 1 || diags[0].Extra != config.CodeNoKey || !strings.Contains(diags[0].Detail, variable) {
			t.Errorf("without %s: got %v, want one that names it", variable, diags)
		}
	}
}

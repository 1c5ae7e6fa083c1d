// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/sshtest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// onMachine returns a component whose one resource has provisioners with connections to an sshd.
func onMachine(t *testing.T, s *sshtest.Server, provisioners string) *component {
	return newComponent(t, fmt.Sprintf(`
variable "key" {
  type      = string
  sensitive = true
}
resource "terraform_data" "x" {
  input = "v"
  connection {
    host     = %q
    port     = %d
    user     = %q
    host_key = %q
    password = "unused"
    agent    = false
    private_key = var.key
  }
%s
}
`, s.Host, s.Port, s.User, s.HostKey.Public, provisioners))
}

func keyOf(s *sshtest.Server) map[string]cty.Value {
	return map[string]cty.Value{"key": cty.StringVal(s.Key.Private).Mark(marks.Sensitive)}
}

// said returns the output of the provisioners of a type.
func (c *component) said(kind string) string {
	var lines []string
	for _, message := range c.messages {
		if line, ok := strings.CutPrefix(message, "terraform_data.x: ("+kind+"): "); ok {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Scripts are run on another machine, and removed there, whether they are lines or files. Secrets
// of the connection do not hide the output of the scripts.
func TestRemoteExec(t *testing.T) {
	s := sshtest.Start(t)
	machine := t.TempDir()
	c := onMachine(t, s, fmt.Sprintf(`
  provisioner "remote-exec" {
    inline = ["echo one ${self.input}", "false", "echo $0"]
    connection { 
      script_path = "%[1]s/it's %%RAND%%.sh" 
    }
  }
  provisioner "remote-exec" {
    scripts = ["a.sh", "${path.module}/b.sh"]
  }
`, machine))
	for name, text := range map[string]string{"a.sh": "echo from a\n", "b.sh": "#!/bin/sh -e\necho from b; false\necho not here\n"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	diags := c.apply(engine.Normal, keyOf(s))
	said := c.said("remote-exec")
	if !strings.Contains(said, "Connecting by ssh to "+s.User+"@127.0.0.1:") || !strings.Contains(said, "Connected\none v\n"+machine+
		"/it's ") || !strings.Contains(said, "\nfrom a\nfrom b") {
		t.Errorf("said: %s", said)
	}
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, `The script "./b.sh" on `) ||
		!strings.Contains(diags[0].Detail, "exit code 1. It has written:") {
		t.Errorf("got %v, want that b.sh has failed", diags)
	}
	if !strings.Contains(string(c.state), `"tainted"`) {
		t.Errorf("the object is not tainted")
	}
	if err := os.WriteFile(filepath.Join(c.dir, "b.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diags := c.apply(engine.Normal, keyOf(s)); diags.HasErrors() {
		t.Fatal(diags)
	}
	left, err := filepath.Glob(filepath.Join(machine, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left on the machine: %v, %v", left, err)
	}
}

// An object is destroyed after its destroy-time provisioners on another machine.
func TestRemoteExecAtDestroy(t *testing.T) {
	s := sshtest.Start(t)
	log := filepath.Join(t.TempDir(), "log")
	c := newComponent(t, fmt.Sprintf(`
resource "terraform_data" "x" {
  input = { port = %d, key = %q }
  connection {
    host        = "127.0.0.1"
    port        = self.input.port
    user        = %q
    private_key = self.input.key
  }
  provisioner "remote-exec" {
    when   = destroy
    inline = ["echo ${self.id} > %s"]
  }
}
`, s.Port, s.Key.Private, s.User, log))
	for _, mode := range []engine.Mode{engine.Normal, engine.Destroy} {
		if diags := c.apply(mode, nil); diags.HasErrors() {
			t.Fatal(diags)
		}
	}
	if text, err := os.ReadFile(log); err != nil || len(text) != 37 {
		t.Errorf("got %q, %v, want an ID", text, err)
	}
}

// Files and directories are copied by the rules of terraform 1.11, which has put the same files
// into such a directory. Only a file whose destination is written as a directory gets its own name
// here, not that of the directory, and nothing is written to another place where a directory is
// missing.
func TestFileProvisioner(t *testing.T) {
	s := sshtest.Start(t)
	machine := t.TempDir()
	var blocks strings.Builder
	for _, copied := range [][2]string{
		{`content = "v ${self.input}"`, "plain"},
		{`content = ""`, "empty"},
		{`content = "x"`, "a b$HOME"},
		{`content = "x"`, "dir/"},
		{`source = "src/a"`, "dir/"},
		{`source = "src"`, "dir"},
		{`source = "src/"`, "dir"},
		{`source = "src"`, "new1"},
		{`source = "src/sub/"`, "new2"}, // which is to be there
		{`content = "x"`, "no/file"},
		{`content = "x"`, "dir"},
		{`source = "nothing"`, "y"},
	} {
		fmt.Fprintf(&blocks, "provisioner \"file\" {\n%s\ndestination = %q\non_failure = continue\n}\n", copied[0], machine+"/"+copied[1])
	}
	c := onMachine(t, s, blocks.String())
	for name, text := range map[string]string{"src/a": "text a", "src/sub/b": "text b"} {
		path := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(machine, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if diags := c.apply(engine.Normal, keyOf(s)); diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, pattern := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		for _, path := range glob(t, machine, pattern) {
			if text, err := os.ReadFile(path); err == nil {
				got[strings.TrimPrefix(path, machine+"/")] = string(text)
			}
		}
	}
	want := map[string]string{
		"plain": "v v", "empty": "", "a b$HOME": "x", "dir/tmp-file-content": "x", "dir/a": "text a",
		"dir/src/a": "text a", "dir/src/sub/b": "text b", "dir/sub/b": "text b", "new1/a": "text a", "new1/sub/b": "text b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(filepath.Join(machine, "dir", "a"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("got %v, %v, want the mode 0644", info.Mode(), err)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Neither the output of a script with a secret nor a secret of a connection is shown.
func TestRemoteExecHidesSecrets(t *testing.T) {
	s := sshtest.Start(t)
	c := newComponent(t, fmt.Sprintf(`
variable "secret" {
  type      = string
  sensitive = true
}
resource "terraform_data" "x" {
  connection {
    host        = "127.0.0.1"
    user        = %q
    port        = %d
    private_key = %q
  }
  provisioner "remote-exec" {
    inline     = ["echo ${var.secret}; false"]
    on_failure = continue
  }
  provisioner "remote-exec" {
    inline = ["echo"]
    connection {
      host    = var.secret
      timeout = "10ms"
      port    = 1
    }
  }
}
`, s.User, s.Port, s.Key.Private))
	diags := c.apply(engine.Normal, map[string]cty.Value{"secret": cty.StringVal("hush-hush.invalid").Mark(marks.Sensitive)})
	if len(diags) != 1 {
		t.Fatalf("got %v, want one error", diags)
	}
	if texts := append(c.messages, diags[0].Detail); strings.Contains(strings.Join(texts, "\n"), "hush") {
		t.Errorf("shown: %q", texts)
	}
	if !strings.Contains(diags[0].Detail, "@(sensitive):1 cannot be reached") || !strings.Contains(c.messages[0], "output hidden") {
		t.Errorf("got %q and %s", c.messages, diags[0].Detail)
	}
}

// Mistakes that no connection can succeed with are reported without a try.
func TestConnectionMistakes(t *testing.T) {
	for want, connection := range map[string]string{
		"30s or 5m":             `timeout = "soon"`,
		"number of a port":      `port = 70000`,
		"unix or windows":       `target_platform = "mars"`,
		"no host":               `host = var.nothing`,
		"private key cannot be": `private_key = "x"`,
		`of type "telnet"`:      `type = "telnet"`,
		"SSH_AUTH_SOCK":         `agent = true`,
	} {
		if !strings.Contains(connection, "host") {
			connection += "\nhost = \"example.com\""
		}
		t.Setenv("SSH_AUTH_SOCK", "")
		c := newComponent(t, fmt.Sprintf(`
variable "nothing" {
  type    = string
  default = null
}
resource "terraform_data" "x" {
  connection {
    %s
  }
  provisioner "file" {
    content     = "x"
    destination = "/tmp/x"
  }
}
`, connection))
		diags := c.apply(engine.Normal, nil)
		if len(diags) != 1 || diags[0].Severity != hcl.DiagError || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: got %v", connection, diags)
		}
	}
}

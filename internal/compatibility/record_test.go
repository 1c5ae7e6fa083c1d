// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compatibility

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestRecord writes the files of a version, if -record names it (rule C1).
func TestRecord(t *testing.T) {
	if *record == "" {
		if _, err := os.Stat(filepath.Join(goldenDir, "README.md")); err != nil {
			t.Errorf("nothing says how files are recorded: %v", err)
		}
		return
	}
	dir := filepath.Join(goldenDir, *record)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatalf("files of a version are recorded once: %v", err)
	}
	r := &recording{t: t, dir: dir}
	r.copyDir("stack", filepath.Join(goldenDir, "sources", "stack"))
	r.copyDir("workspace", filepath.Join(goldenDir, "sources", "workspace"))
	r.copyDir("rescue", filepath.Join(goldenDir, "sources", "rescue"))
	r.states()
	r.set()
	r.rescue()
}

// recording is a directory with the files of a version, which is made.
type recording struct {
	t   *testing.T
	dir string
}

// states records two serials, the second of which has more, a state of another deployment, and a
// plan that makes values unknown; in clear and encrypted, and in clear also as objects.
func (r *recording) states() {
	plain := r.sqlite("clear", "sqlite.db.gz", "stack.plan")
	objects := filepath.Join(plain.dir, "objects")
	if err := os.Mkdir(objects, 0o755); err != nil {
		r.t.Fatal(err)
	}
	plain.run("state", "migrate", "cairn.state.db", objectsURL(objects))
	r.copyDir("objects", objects)

	r.sqlite("encrypted", "encrypted.db.gz", "encrypted.plan", encrypted)
}

func (r *recording) sqlite(want, state, plan string, env ...string) *user {
	u := newUser(r.t, filepath.Join(r.dir, "stack"), env...)
	save := func(name string, args ...string) { r.write(filepath.Join("want", want, name), []byte(u.run(args...))) }
	u.run("apply", "-auto-approve", `-var=apps=["a"]`)
	save("state-list-1.txt", "state", "list")
	u.run("apply", "-auto-approve")
	u.run("apply", "-auto-approve", "-deployment=blue", "-var=region=south")
	u.run("plan", "-out="+plan, "-replace=component.network.terraform_data.vpc")
	r.file(plan, filepath.Join(u.dir, plan))
	save("state-list.txt", "state", "list")
	save("state-list-blue.txt", "state", "list", "-deployment=blue")
	save("show.json", "show", "-json")
	save("output.json", "output", "-json")
	save("history.json", "state", "history", "-json")
	save("plan.json", "show", "-json", plan)
	r.packed(state, filepath.Join(u.dir, "cairn.state.db"))
	return u
}

// set records plans of two stacks, the second of which needs an unknown value of the first.
//
// Both have been applied before: a plan for the first apply is for one path on one machine.
func (r *recording) set() {
	u := newUser(r.t, filepath.Join(r.dir, "workspace"))
	u.run("run", "apply", "-auto-approve")
	for _, stack := range []string{"net", "dns"} {
		r.packed(stack+".db.gz", filepath.Join(u.dir, stack, "cairn.state.db"))
	}
	module := filepath.Join("net", "m", "main.tf")
	r.write(filepath.Join("workspace", module), []byte(replacedResource))
	if err := os.WriteFile(filepath.Join(u.dir, module), []byte(replacedResource), 0o600); err != nil {
		r.t.Fatal(err)
	}
	u.run("run", "plan", "-out=plans")
	r.text("plans.json", u.run("show", "-json", "plans"))
	// Neither is part of the set, and git would ignore all others because of the first.
	for _, name := range []string{".gitignore", "lock"} {
		if err := os.Remove(filepath.Join(u.dir, "plans", name)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.copyDir("plans", filepath.Join(u.dir, "plans"))
}

// replacedResource is the module of the first stack when the set is planned.
const replacedResource = `resource "terraform_data" "x" {
  input            = "net"
  triggers_replace = ["second"]
}

output "id" {
  value = terraform_data.x.id
}
`

// rescue records the file of an apply that takes its state file away.
func (r *recording) rescue() {
	u := newUser(r.t, filepath.Join(r.dir, "rescue"))
	if out, errors, status := u.try("apply", "-auto-approve"); status != 1 {
		r.t.Fatalf("the apply that loses its state ends with exit code %d\n%s%s", status, out, errors)
	}
	r.file("errored.cairnstate.json", filepath.Join(u.dir, "errored.cairnstate.json"))
	u = newUser(r.t, filepath.Join(r.dir, "rescue"))
	u.put(filepath.Join(r.dir, "errored.cairnstate.json"), "errored.cairnstate.json")
	u.run("state", "push", "errored.cairnstate.json")
	r.text("state-list-rescue.txt", u.run("state", "list"))
	r.text("rescue.json", u.run("show", "-json"))
}

func (r *recording) copyDir(name, from string) {
	r.t.Helper()
	if err := os.CopyFS(filepath.Join(r.dir, name), os.DirFS(from)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) write(name string, content []byte) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) text(name, content string) {
	r.t.Helper()
	r.write(filepath.Join("want", name), []byte(content))
}

func (r *recording) file(name, from string) {
	r.t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(name, content)
}

func (r *recording) packed(name, from string) {
	r.t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		r.t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		r.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.write(name, packed.Bytes())
}

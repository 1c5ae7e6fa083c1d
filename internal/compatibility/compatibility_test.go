// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compatibility

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// goldenDir has the files of all versions, as seen from this package.
const goldenDir = "../../testdata/compatibility"

// encrypted has cairn encrypt by a key that protects nothing.
const encrypted = "CAIRN_ENCRYPTION=passphrase:files of an old version"

var record = flag.String("record", "", "write the files of this version, such as 0.10, instead of testing")

// user is somebody who has a directory with files of a version, and no other settings.
type user struct {
	t   *testing.T
	dir string
	env []string // besides the usual
}

// newUser returns a user with a copy of the stack of a version.
func newUser(t *testing.T, stack string, env ...string) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir(), env: env}
	if err := os.CopyFS(u.dir, os.DirFS(stack)); err != nil {
		t.Fatal(err)
	}
	return u
}

// try runs cairn and returns its output and its exit code.
func (u *user) try(args ...string) (stdout, stderr string, status int) {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "cairn", args...)
	cmd.Dir = u.dir
	cmd.Env = append([]string{"HOME=" + u.dir, "PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}, u.env...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		if _, exited := errors.AsType[*exec.ExitError](failed); !exited {
			u.t.Fatalf("cairn %s: %v", strings.Join(args, " "), failed)
		}
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// run runs cairn, which must succeed, and returns its output.
func (u *user) run(args ...string) string {
	u.t.Helper()
	stdout, stderr, status := u.try(args...)
	if status != 0 {
		u.t.Fatalf("cairn %s: exit code %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

// put copies a file to the directory of the user, unpacking it if its name ends in .gz.
func (u *user) put(from, name string) {
	u.t.Helper()
	source, err := os.Open(from)
	if err != nil {
		u.t.Fatal(err)
	}
	defer source.Close() //nolint:errcheck // it was only read
	var reader io.Reader = source
	if strings.HasSuffix(from, ".gz") {
		if reader, err = gzip.NewReader(source); err != nil {
			u.t.Fatal(err)
		}
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.dir, name), content, 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// versions are the directories of all versions that have files.
func versions(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(goldenDir, "[0-9]*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no version in %s: %v", goldenDir, err)
	}
	return found
}

// place is a place of states.
type place struct {
	name string
	env  []string
	want string // the directory with what is expected, below want
	plan string
	put  func(u *user, dir string) // brings the states of a version to the user
}

var places = []place{
	{
		name: "sqlite", want: "clear", plan: "stack.plan",
		put: func(u *user, dir string) { u.put(filepath.Join(dir, "sqlite.db.gz"), "cairn.state.db") },
	},
	{
		name: "encrypted", want: "encrypted", plan: "encrypted.plan", env: []string{encrypted},
		put: func(u *user, dir string) { u.put(filepath.Join(dir, "encrypted.db.gz"), "cairn.state.db") },
	},
	{
		name: "objects", want: "clear", plan: "stack.plan",
		put: func(u *user, dir string) {
			objects := filepath.Join(u.dir, "objects")
			if err := os.CopyFS(objects, os.DirFS(filepath.Join(dir, "objects"))); err != nil {
				u.t.Fatal(err)
			}
			u.env = append(u.env, "CAIRN_STATE="+objectsURL(objects))
		},
	},
}

func objectsURL(dir string) string { return "file://" + filepath.ToSlash(dir) + "?stack=golden" }

// States of all places open, show the same as when they were written, keep their history, and take
// the plan that was made of them.
func TestStatesAndPlans(t *testing.T) {
	for _, version := range versions(t) {
		for _, place := range places {
			t.Run(filepath.Base(version)+"/"+place.name, func(t *testing.T) {
				t.Parallel()
				u := newUser(t, filepath.Join(version, "stack"), place.env...)
				place.put(u, version)
				u.put(filepath.Join(version, place.plan), "old.plan")

				want := func(name string) string { return filepath.Join(version, "want", place.want, name) }
				list := u.run("state", "list")
				wantText(t, list, want("state-list.txt"))
				shown := u.run("show")
				for address := range strings.Lines(list) {
					if _, resource, ok := strings.Cut(strings.TrimSpace(address), ".terraform_data."); ok &&
						!strings.Contains(shown, "# terraform_data."+resource+":\n") {
						t.Errorf("cairn show does not show %s:\n%s", address, shown)
					}
				}
				wantJSON(t, u.run("show", "-json"), want("show.json"))
				wantJSON(t, u.run("output", "-json"), want("output.json"))
				wantJSON(t, u.run("state", "history", "-json"), want("history.json"))
				wantText(t, u.run("state", "list", "-deployment=blue"), want("state-list-blue.txt"))

				u.run("show", "old.plan")
				wantJSON(t, u.run("show", "-json", "old.plan"), want("plan.json"))
				u.run("apply", "old.plan")
				wantText(t, u.run("state", "list"), want("state-list.txt"))
				if out, errors, status := u.try("plan", "-detailed-exitcode"); status != 0 {
					t.Errorf("there are changes after the plan was applied: %s%s", out, errors)
				}

				// The first serial is as the older version has written it, whatever was written since.
				u.run("state", "rollback", "-auto-approve", "1")
				wantText(t, u.run("state", "list"), want("state-list-1.txt"))
			})
		}
	}
}

// A set of plans shows the same, and is applied as a whole.
func TestSets(t *testing.T) {
	for _, version := range versions(t) {
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			u := newUser(t, filepath.Join(version, "workspace"))
			for _, stack := range []string{"net", "dns"} {
				u.put(filepath.Join(version, stack+".db.gz"), filepath.Join(stack, "cairn.state.db"))
			}
			if err := os.CopyFS(filepath.Join(u.dir, "plans"), os.DirFS(filepath.Join(version, "plans"))); err != nil {
				t.Fatal(err)
			}
			wantJSON(t, u.run("show", "-json", "plans"), filepath.Join(version, "want", "plans.json"))
			u.run("run", "apply", "plans")
			var net, dns struct {
				Components []struct {
					Outputs map[string]json.RawMessage `json:"outputs"`
				} `json:"components"`
			}
			unmarshal(t, u.run("-chdir=net", "show", "-json"), &net)
			unmarshal(t, u.run("-chdir=dns", "show", "-json"), &dns)
			if got, want := dns.Components[0].Outputs["vpc"], net.Components[0].Outputs["id"]; !bytes.Equal(got, want) {
				t.Errorf("the second stack of the set has got %s, and the first one has %s", got, want)
			}
		})
	}
}

// A state that an older version could not save is pushed to where it belongs.
func TestRescueFiles(t *testing.T) {
	for _, version := range versions(t) {
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			u := newUser(t, filepath.Join(version, "rescue"))
			u.put(filepath.Join(version, "errored.cairnstate.json"), "errored.cairnstate.json")
			u.run("state", "push", "errored.cairnstate.json")
			wantText(t, u.run("state", "list"), filepath.Join(version, "want", "state-list-rescue.txt"))
			wantJSON(t, u.run("show", "-json"), filepath.Join(version, "want", "rescue.json"))
		})
	}
}

// wantText compares an output with a file.
func wantText(t *testing.T, got, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("output differs from %s\ngot:\n%swant:\n%s", path, got, want)
	}
}

// wantJSON checks that a document says all that a file does (rule C3).
func wantJSON(t *testing.T, got, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var gotValue, wantValue any
	if err := json.Unmarshal(want, &wantValue); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := json.Unmarshal([]byte(got), &gotValue); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, got)
	}
	for _, difference := range missing("", gotValue, wantValue) {
		t.Errorf("%s: %s", path, difference)
	}
}

// unmarshal reads a document.
func unmarshal(t *testing.T, document string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(document), into); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, document)
	}
}

// missing lists the parts of an older document that a document lacks.
func missing(at string, got, want any) []string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			break
		}
		var all []string
		for name, value := range want {
			found, ok := object[name]
			if !ok {
				all = append(all, fmt.Sprintf("%s.%s is gone", at, name))
				continue
			}
			all = append(all, missing(at+"."+name, found, value)...)
		}
		return all
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			break
		}
		var all []string
		for i := range want {
			all = append(all, missing(fmt.Sprintf("%s[%d]", at, i), list[i], want[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(got, want) {
		return []string{fmt.Sprintf("%s was %v, and is %v", at, want, got)}
	}
	return nil
}

// The comparison allows new fields, and nothing else.
func TestMissing(t *testing.T) {
	for got, want := range map[string]string{
		`{"a": 1, "b": 2}`:             "",
		`{"b": 2}`:                     ".a is gone",
		`{"a": 2}`:                     ".a was 1, and is 2",
		`{"a": "1"}`:                   ".a was 1, and is 1",
		`{"a": 1, "l": [{"x": 1}, 3]}`: "",
		`{"a": 1, "l": [{}, 3]}`:       ".l[0].x is gone",
		`{"a": 1, "l": [{"x": 1}]}`:    ".l was [map[x:1] 3], and is [map[x:1]]",
		`[]`:                           " was map[a:1], and is []",
	} {
		former := `{"a": 1}`
		if strings.Contains(got, `"l"`) {
			former = `{"a": 1, "l": [{"x": 1}, 3]}`
		}
		var gotValue, wantValue any
		if err := errors.Join(json.Unmarshal([]byte(got), &gotValue), json.Unmarshal([]byte(former), &wantValue)); err != nil {
			t.Fatal(err)
		}
		if found := strings.Join(missing("", gotValue, wantValue), "; "); found != want {
			t.Errorf("missing(%s, %s) = %q, want %q", got, former, found, want)
		}
	}
}

// All files together stay small enough to be part of each clone forever.
func TestFilesAreSmall(t *testing.T) {
	const most = 200 << 10
	for _, version := range versions(t) {
		var size int64
		err := filepath.WalkDir(version, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err != nil || size > most {
			t.Errorf("%s has %d bytes, more than %d, or cannot be read: %v", version, size, most, err)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/cairnstacks/cairn/internal/states/schedule"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func modeOf(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return octal(info.Mode())
}

func managed(path, args string) string {
	return fmt.Sprintf("%q: {file.managed: [%s]}", path, args)
}

func TestFileBackup(t *testing.T) {
	dir := t.TempDir()
	path, backups := filepath.Join(dir, "f"), filepath.Join(dir, "backups")
	host := &Host{Backups: backups}
	write(t, path, "old\n")

	one(t, host, managed(path, "contents: new, backup: .bak"), true, schedule.Changed)
	if _, err := os.Lstat(path + ".bak"); !os.IsNotExist(err) {
		t.Errorf("test mode has made a backup: %v", err)
	}
	result := one(t, host, managed(path, "contents: new, backup: .bak"), false, schedule.Changed)
	if got := content(t, path+".bak"); got != "old\n" || result.Changes.Get("backup") != path+".bak" {
		t.Errorf("backup with %q, changes %s", got, changes(t, result))
	}
	one(t, host, managed(path, "contents: new, backup: .bak, mode: 640"), false, schedule.Changed)
	if got := content(t, path+".bak"); got != "old\n" {
		t.Errorf("a backup was made though the contents have not changed: %q", got)
	}

	result = one(t, host, managed(path, "contents: newer, backup: minion"), false, schedule.Changed)
	found, err := filepath.Glob(backups + path + "_*")
	if err != nil || len(found) != 1 {
		t.Fatalf("backups %v, %v", found, err)
	}
	if got := content(t, found[0]); got != "new\n" || modeOf(t, found[0]) != "0600" || modeOf(t, backups) != "0700" ||
		result.Changes.Get("backup") != found[0] {
		t.Errorf("backup with %q, mode %s in %s, changes %s", got, modeOf(t, found[0]), modeOf(t, backups), changes(t, result))
	}

	// Without its backup, a file is not touched.
	wantComment(t, one(t, &Host{Backups: path}, managed(path, "contents: newest, backup: minion"), false, schedule.Failed),
		"no backup can be made")
	one(t, &Host{}, managed(path, "contents: newest, backup: minion"), false, schedule.Failed)
	if got := content(t, path); got != "newer\n" {
		t.Errorf("the file was changed without a backup: %q", got)
	}
}

func TestFileCheckCommand(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a file")
	one(t, &Host{}, managed(path, "contents: good, check_cmd: grep good"), false, schedule.Changed)
	result := one(t, &Host{}, managed(path, "contents: worse, check_cmd: grep -c good"), false, schedule.Failed)
	wantComment(t, result, `cannot be written: the command "grep -c good" of "check_cmd" refuses it with exit code 1:`+"\n0")
	wantComment(t, one(t, &Host{}, managed(path, "contents: secret, show_changes: false, check_cmd: '! cat'"), false, schedule.Failed),
		"refuses it with exit code 1.")
	const extension = "check_cmd: 'f() { case $1 in *.conf) ;; *) return 1; esac; }; f'"
	one(t, &Host{}, managed(path, "contents: z, "+extension), false, schedule.Failed)
	one(t, &Host{}, managed(path, "contents: x, tmp_ext: .conf, "+extension), false, schedule.Changed)
	one(t, &Host{}, managed(path, "contents: y, check_cmd: 'false'"), true, schedule.Changed) // it is not run in test mode
	if got := content(t, path); got != "x\n" {
		t.Errorf("got %q", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFileLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(real, "f"), "old\n")
	link(t, "real", filepath.Join(dir, "linked"))
	link(t, "linked/f", filepath.Join(dir, "f"))
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, "real/none", filepath.Join(dir, "nowhere"))

	result := one(t, &Host{}, managed(filepath.Join(dir, "f"), "contents: new"), false, schedule.Changed)
	if got := content(t, filepath.Join(real, "f")); got != "new\n" {
		t.Errorf("got %q", got)
	}
	wantComment(t, result, "("+filepath.Join(real, "f")+") was changed")
	one(t, &Host{}, managed(filepath.Join(dir, "linked", "g"), "contents: new"), false, schedule.Changed)
	if got := content(t, filepath.Join(real, "g")); got != "new\n" {
		t.Errorf("got %q", got)
	}
	wantComment(t, one(t, &Host{}, managed(filepath.Join(dir, "loop"), "contents: x"), false, schedule.Failed), "too many symbolic links")
	wantComment(t, one(t, &Host{}, managed(filepath.Join(dir, "nowhere"), "contents: x"), false, schedule.Failed), "leads nowhere")

	// The link itself.
	result = one(t, &Host{}, managed(filepath.Join(dir, "f"), "contents: own, follow_symlinks: false"), true, schedule.Changed)
	if got := result.Changes.Get("link"); got != "replaced by a file" {
		t.Errorf("changes %s", changes(t, result))
	}
	one(t, &Host{}, managed(filepath.Join(dir, "f"), "contents: own, follow_symlinks: false"), false, schedule.Changed)
	if info, err := os.Lstat(filepath.Join(dir, "f")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is still there: %v, %v", info, err)
	}
	if got := content(t, filepath.Join(real, "f")); got != "new\n" {
		t.Errorf("the link was followed: %q", got)
	}
	one(t, &Host{}, managed(filepath.Join(dir, "f"), "contents: own, follow_symlinks: false"), false, schedule.OK)

	one(t, &Host{}, fmt.Sprintf("%q: {file.absent: []}", filepath.Join(dir, "linked")+"/"), false, schedule.Changed)
	if _, err := os.Lstat(filepath.Join(real, "f")); err != nil {
		t.Errorf("what the link leads to was removed: %v", err)
	}
}

// TestFileLinksOfOthers are not followed: another user must not decide which file is written.
func TestFileLinksOfOthers(t *testing.T) {
	for _, test := range []struct {
		owner, self int
		want        bool
	}{{0, 0, true}, {0, 4321, true}, {4321, 4321, true}, {4321, 0, false}, {4321, 4322, false}} {
		if got := (owner{uid: test.owner}).isTrusted(owner{uid: test.self}); got != test.want {
			t.Errorf("%d follows a link of %d: %t, want %t", test.self, test.owner, got, test.want)
		}
	}
	testenv.Root(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret"), "secret\n")
	for _, name := range []string{"f", "d"} {
		link(t, map[string]string{"f": "secret", "d": "."}[name], filepath.Join(dir, name))
		if err := os.Lchown(filepath.Join(dir, name), 4321, 4321); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"f", "d/secret", "d/new"} {
		wantComment(t, one(t, &Host{}, managed(filepath.Join(dir, name), "contents: x"), false, schedule.Failed), "symbolic link of another user")
	}
	if got := content(t, filepath.Join(dir, "secret")); got != "secret\n" {
		t.Errorf("got %q", got)
	}
	one(t, &Host{}, managed(filepath.Join(dir, "f"), "contents: x, follow_symlinks: false"), false, schedule.Changed)

	absent := func(name string) string { return fmt.Sprintf("%q: {file.absent: []}", filepath.Join(dir, name)) }
	for _, test := range []bool{true, false} {
		wantComment(t, one(t, &Host{}, absent("d/secret"), test, schedule.Failed), "symbolic link of another user")
	}
	one(t, &Host{}, absent("d/none"), false, schedule.OK)
	one(t, &Host{}, absent("d"), false, schedule.Changed)
	if got := content(t, filepath.Join(dir, "secret")); got != "secret\n" {
		t.Errorf("got %q", got)
	}
}

func TestFileDirectories(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"mode: 640": "0750", "mode: 600": "0700", "contents: x": "0755", "mode: 600, dir_mode: 711": "0711",
	} {
		path := filepath.Join(dir, strings.NewReplacer(":", "", " ", "", ",", "").Replace(args), "a", "f")
		one(t, &Host{}, managed(path, args+", makedirs: true"), false, schedule.Changed)
		for _, made := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
			if got := modeOf(t, made); got != want {
				t.Errorf("%s: mode %s, want %s", args, got, want)
			}
		}
	}
}

func TestOwnersOfDirectories(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "owned", "a", "f")
	one(t, &Host{}, managed(path, "makedirs: true, user: 4321, group: 4322"), false, schedule.Changed)
	for _, made := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if info, err := os.Stat(made); err != nil {
			t.Error(err)
		} else if got, _ := ownerOf(info); got != (owner{4321, 4322}) {
			t.Errorf("%s belongs to %v", made, got)
		}
	}
	if info, err := os.Stat(dir); err != nil {
		t.Error(err)
	} else if got, _ := ownerOf(info); got != newOwner() {
		t.Errorf("what was there before was given away to %v", got)
	}
}

func TestFileSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	host := &Host{Files: fstest.MapFS{"b": {Data: []byte("b\n"), Mode: 0o751}, "d/x": {}}}
	one(t, host, managed(path, "create: false, source: b"), false, schedule.OK)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("it was made: %v", err)
	}
	one(t, host, managed(path, "source: ['salt://a', 'salt://b'], mode: keep"), false, schedule.Changed)
	if got := content(t, path) + modeOf(t, path); got != "b\n0751" {
		t.Errorf("got %q", got)
	}
	wantComment(t, one(t, host, managed(path, "source: [a, c]"), false, schedule.Failed),
		`The source "c" cannot be read: file does not exist.`)
	one(t, host, managed(path, "source: d"), false, schedule.Failed)
	one(t, host, managed(path, "contents: c, create: false"), false, schedule.Changed)
}

func TestFileDirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	state := func(args string) string { return fmt.Sprintf("%q: {file.directory: [%s]}", path, args) }
	wantComment(t, one(t, &Host{}, state(""), false, schedule.Failed), `"makedirs" is not true`)
	one(t, &Host{}, state("makedirs: true, mode: 750"), true, schedule.Changed)
	if _, err := os.Lstat(filepath.Join(dir, "a")); !os.IsNotExist(err) {
		t.Fatalf("test mode has made something: %v", err)
	}
	wantChanges(t, one(t, &Host{}, state("makedirs: true, mode: 750"), false, schedule.Changed), `{"directory":"new","mode":"0750"}`)
	if got := modeOf(t, path); got != "0750" {
		t.Errorf("mode %s", got)
	}
	one(t, &Host{}, state("mode: 750"), false, schedule.OK)
	wantChanges(t, one(t, &Host{}, state("dir_mode: 2755"), false, schedule.Changed), `{"mode":"2755"}`)
	if got := modeOf(t, path); got != "2755" {
		t.Errorf("mode %s", got)
	}
	write(t, filepath.Join(path, "f"), "x")
	path = filepath.Join(path, "f")
	wantComment(t, one(t, &Host{}, state(""), false, schedule.Failed), "something else than a directory")
}

func TestOwnerOfDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	state := func(args string) string { return fmt.Sprintf("%q: {file.directory: [%s]}", path, args) }
	one(t, &Host{}, state("mode: 2755"), false, schedule.Changed)
	one(t, &Host{}, state(fmt.Sprintf("user: %d, group: %d", newOwner().uid, newOwner().gid)), false, schedule.OK)

	testenv.Root(t)
	wantChanges(t, one(t, &Host{}, state("user: 4321, group: 4322, mode: 2755"), false, schedule.Changed), `{"user":"4321","group":"4322"}`)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ownerOf(info); got != (owner{4321, 4322}) || modeOf(t, path) != "2755" {
		t.Errorf("it belongs to %v, mode %s", got, modeOf(t, path))
	}
	one(t, &Host{}, state("user: 4321, group: 4322, mode: 2755"), false, schedule.OK)
	one(t, &Host{}, state("user: root, group: root"), false, schedule.Changed)
	one(t, &Host{}, state("user: root, group: root"), false, schedule.OK)
}

func TestFileSymlink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "link")
	state := func(args string) string { return fmt.Sprintf("%q: {file.symlink: [%s]}", path, args) }
	leadsTo := func(want string) {
		t.Helper()
		if got, err := os.Readlink(path); got != want {
			t.Errorf("the link leads to %q (%v), want %q", got, err, want)
		}
	}
	one(t, &Host{}, state("target: x"), false, schedule.Failed)
	wantChanges(t, one(t, &Host{}, state("target: x, makedirs: true"), false, schedule.Changed), `{"old":"","new":"x"}`)
	leadsTo("x")
	one(t, &Host{}, state("target: x"), false, schedule.OK)
	one(t, &Host{}, state("target: /y"), true, schedule.Changed)
	leadsTo("x")
	wantChanges(t, one(t, &Host{}, state("target: /y"), false, schedule.Changed), `{"old":"x","new":"/y"}`)
	leadsTo("/y")

	path = filepath.Join(dir, "file")
	write(t, path, "x")
	wantComment(t, one(t, &Host{}, state("target: x"), false, schedule.Failed), "something else than a symbolic link")
	one(t, &Host{}, state("target: x, force: true"), false, schedule.Changed)
	leadsTo("x")
	path = filepath.Join(dir, "a")
	one(t, &Host{}, state("target: x, force: true"), false, schedule.Failed)
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".cairn-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestOwnersToCome are known only once another call has made them, which in test mode none has.
func TestOwnersToCome(t *testing.T) {
	dir := t.TempDir()
	for _, function := range []string{"managed", "directory"} {
		src := fmt.Sprintf("%q: {file.%s: [user: no-such-user-here, group: no-such-group-here]}", filepath.Join(dir, function), function)
		result := one(t, &Host{}, src, true, schedule.Changed)
		if result.Changes.Get("user") != "no-such-user-here" || result.Changes.Get("group") != "no-such-group-here" {
			t.Errorf("changes %s", changes(t, result))
		}
		wantComment(t, result, `would be changed. But there is no user "no-such-user-here" yet. But there is no group "no-such-group-here" yet.`)
		wantComment(t, one(t, &Host{}, src, false, schedule.Failed), `There is no user "no-such-user-here"`)
	}
}

// TestPathsBelowFiles: there is nothing below a path that is not a directory.
func TestPathsBelowFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, "x")
	wantComment(t, one(t, &Host{}, file+"/y: {file.absent: []}", false, schedule.OK), "There is no "+file+"/y.")
	one(t, &Host{}, "'true': {cmd.run: [creates: "+file+"/y]}", false, schedule.Changed)
	wantComment(t, one(t, &Host{}, managed(file+"/y", "contents: x, makedirs: true"), false, schedule.Failed), "not a directory")
}

// TestMissingParents: test mode reports the outcome of a run, unless another call makes the
// directory.
func TestMissingParents(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	want := "But there is no directory " + filepath.Dir(path) + " yet, and \"makedirs\" is not true."
	for _, state := range []string{
		"file.managed: [{name: %s}, {contents: x}]", "file.directory: [{name: %s}]", "file.symlink: [{name: %s}, {target: /x}]",
	} {
		state = "x: {" + fmt.Sprintf(state, path)
		wantComment(t, one(t, &Host{}, state+"}", true, schedule.Changed), want)
		result := one(t, &Host{}, strings.TrimSuffix(state, "]")+", {makedirs: true}]}", true, schedule.Changed)
		if strings.Contains(result.Comment, "makedirs") {
			t.Errorf("with makedirs, the comment is %q", result.Comment)
		}
	}
}

func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"permission denied":              &fs.PathError{Op: "open", Path: "/x/.cairn-1", Err: syscall.EACCES},
		"busy: something is mounted":     &os.LinkError{Op: "rename", Old: "/x/.cairn-1", New: "/x/f", Err: syscall.EBUSY},
		"/x cannot be looked at: broken": errors.New("/x cannot be looked at: broken"),
	} {
		if got := reason(err); !strings.Contains(got, want) || strings.Contains(got, ".cairn-1") {
			t.Errorf("got %q, want %q in it, and no temporary file", got, want)
		}
	}
}

func TestMissingSource(t *testing.T) {
	dir := t.TempDir()
	files := fstest.MapFS{"web/motd": &fstest.MapFile{Data: []byte("x")}, "other": &fstest.MapFile{}}
	for source, want := range map[string]string{
		"salt://web/mtd":         `The source "salt://web/mtd" cannot be read: file does not exist, but there is "web/motd".`,
		"salt://web/nothingnear": `The source "salt://web/nothingnear" cannot be read: file does not exist.`,
		"salt://none/motd":       `The source "salt://none/motd" cannot be read: file does not exist.`,
	} {
		result := one(t, &Host{Files: files}, managed(filepath.Join(dir, "f"), "source: "+source), false, schedule.Failed)
		if result.Comment != want {
			t.Errorf("comment %q, want %q", result.Comment, want)
		}
	}
}

func TestFileOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	own := newOwner()
	src := fmt.Sprintf("%s: {file.managed: [contents: x, user: %d, group: %d, mode: 2755, show_changes: false]}", path, own.uid, own.gid)
	wantChanges(t, one(t, &Host{}, src, false, schedule.Changed),
		fmt.Sprintf(`{"diff":"not shown (show_changes is false)","mode":"2755","user":"%d","group":"%d"}`, own.uid, own.gid))
	one(t, &Host{}, src, false, schedule.OK)

	testenv.Root(t)
	src = fmt.Sprintf("%s: {file.managed: [contents: x, user: 4321, group: 4322, mode: 2755]}", path)
	one(t, &Host{}, src, false, schedule.Changed)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ownerOf(info); got != (owner{4321, 4322}) || octal(info.Mode()) != "2755" {
		t.Errorf("got %v %s", got, octal(info.Mode()))
	}
	one(t, &Host{}, src, false, schedule.OK)
	wantChanges(t, one(t, &Host{}, strings.Replace(src, "4321", "root", 1), false, schedule.Changed), `{"user":"root"}`)
}

// TestInheritedGroup: in a directory that gives its group to files made in it, only a new file
// without another setting takes that.
func TestInheritedGroup(t *testing.T) {
	own := newOwner()
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(groups, func(group int) bool { return group != own.gid })
	if at < 0 { // no group that it could be given to
		testenv.Root(t)
		groups, at = []int{4322}, 0
	}
	dir := t.TempDir()
	wantGroup := func(path string, want int) {
		t.Helper()
		if info, err := os.Lstat(path); err != nil {
			t.Error(err)
		} else if got, _ := ownerOf(info); got != (owner{own.uid, want}) {
			t.Errorf("%s belongs to %v, want the group %d", path, got, want)
		}
	}
	private, fresh := filepath.Join(dir, "private"), filepath.Join(dir, "fresh")
	given, sub := filepath.Join(dir, "given"), filepath.Join(dir, "sub")
	write(t, private, "secret\n")
	if err := os.Chown(private, -1, own.gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, -1, groups[at]); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o770|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	one(t, &Host{}, managed(private, "contents: another, backup: .bak"), false, schedule.Changed)
	wantGroup(private, own.gid)
	wantGroup(private+".bak", own.gid)
	one(t, &Host{}, managed(fresh, "contents: x"), false, schedule.Changed)
	wantGroup(fresh, groups[at])
	src := managed(given, fmt.Sprintf("contents: x, group: %d", own.gid))
	one(t, &Host{}, src, false, schedule.Changed)
	wantGroup(given, own.gid)
	one(t, &Host{}, src, false, schedule.OK)
	src = fmt.Sprintf("%s: {file.directory: [group: %d]}", sub, own.gid)
	one(t, &Host{}, src, false, schedule.Changed)
	wantGroup(sub, own.gid)
	one(t, &Host{}, src, false, schedule.OK)
}

// TestDirectoriesAtTheSameTime are made by one of the calls, and are there for the others.
func TestDirectoriesAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	for round := range 50 {
		var src strings.Builder
		for n := range 8 {
			fmt.Fprintf(&src, "%s: {file.managed: [contents: x, makedirs: true, parallel: true]}\n",
				filepath.Join(dir, strconv.Itoa(round), "a", "b", strconv.Itoa(n%2), strconv.Itoa(n)))
		}
		low := compileText(t, src.String())
		for _, result := range schedule.Run(t.Context(), low, schedule.Options{Functions: &Host{}, Parallel: 8}) {
			if result.Status != schedule.Changed {
				t.Fatalf("%s is %s: %s", result.Call, result.Status, result.Comment)
			}
		}
	}
	path := filepath.Join(dir, "one")
	for _, want := range []bool{true, false} {
		if isNew, err := makeDirectory(path); isNew != want || err != nil {
			t.Errorf("new: %t, %v, want %t", isNew, err, want)
		}
	}
	write(t, filepath.Join(path, "f"), "")
	if _, err := makeDirectory(filepath.Join(path, "f")); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// TestSetAttributes leaves the target of a link alone.
func TestSetAttributes(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, "target", path)
	if err := setAttributes(path, owner{kept, kept}, 0o755); err == nil || modeOf(t, target) != "0700" {
		t.Errorf("the link was followed: %v, mode %s", err, modeOf(t, target))
	}
	for _, mode := range []os.FileMode{0o300, 0o711} { // also if it cannot be read
		if err := setAttributes(target, owner{kept, kept}, mode); err != nil || modeOf(t, target) != octal(mode) {
			t.Errorf("%v, mode %s, want %s", err, modeOf(t, target), octal(mode))
		}
	}
}

// TestReadRegular reads the file that was looked at, and not the one that has come in its place: a
// link to a secret, whose copy others could read.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "x")
	link(t, "f", filepath.Join(dir, "link"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, info, err := readRegular(filepath.Join(dir, "f")); err != nil || string(got) != "x" || info.Mode() != 0o600 {
		t.Errorf("got %q, %v, %v", got, info, err)
	}
	for _, name := range []string{"link", "pipe", ".", "none"} {
		if got, _, err := readRegular(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

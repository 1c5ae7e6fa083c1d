// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/forgetest"
)

// forgeOf is the service of a script.
type forgeOf struct {
	ts      *testscript.TestScript
	service forgetest.Service
	server  *forgetest.Server
	runner  *forgetest.Runner
}

type forgeKey struct{}

// forgeCommand is the command forge of scripts, which is a service for requests: GitHub or GitLab.
// Its repository is the bare one in $WORK/origin.
//
//   - forge start github|gitlab: starts the API. Jobs have the variables of the script
//   - forge push NUMBER BRANCH: a branch was pushed, of which there is a request
//   - forge merge NUMBER merge|squash|ff: merges it
//   - forge job JOB pushed|merged NUMBER, forge job JOB comment NUMBER USER TEXT: plays a job of
//     the file in examples/ci. It must fail after "!". The log is in $WORK/log, and has no secrets
//   - forge skipped JOB EVENT...: it must not run
//   - forge comments NUMBER: writes the comments of a request to $WORK/comments
//   - forge comment NUMBER USER TEXT: somebody comments
//   - forge permit USER PERMISSION
//   - forge fail METHOD PATH STATUS TIMES [RETRY-AFTER]: such requests fail
//   - forge race: the next new comment is made by two jobs
//   - forge kill METHOD PATH: the job is lost when the next such request is done
//   - forge kill FILE: the next job is lost when that file is there
//   - forge hook ID: runs a hook of .pre-commit-hooks.yaml in the current directory, as pre-commit
//     does. It must fail after "!"; a hook that changes files fails there, too
func forgeCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		switch args[0] {
		case "start":
			startForge(ts, root, forgetest.Service(args[1]))
			return
		case "hook":
			if err := runHook(ts, root, args[1]); (err != nil) != neg {
				ts.Fatalf("hook %s: error %v", args[1], err)
			}
			return
		}
		f, ok := ts.Value(forgeKey{}).(**forgeOf)
		if !ok || *f == nil {
			ts.Fatalf("forge start comes first")
		}
		(*f).ts = ts
		(*f).do(neg, args)
	}
}

func startForge(ts *testscript.TestScript, root string, service forgetest.Service) {
	work := ts.Getenv("WORK")
	server := forgetest.NewServer(service, filepath.Join(work, "artifacts"))
	ts.Defer(server.Close)
	runner := &forgetest.Runner{Server: server, Root: root, Work: work, Env: map[string]string{}, Vars: map[string]string{}}
	for _, name := range []string{"PATH", "HOME", "WORK", "TF_CLI_CONFIG_FILE", "CHECKPOINT_DISABLE", "CAIRN_ENGINE", "CAIRN_CI_TRIES"} {
		if value := ts.Getenv(name); value != "" {
			runner.Env[name] = value
		}
	}
	place, ok := ts.Value(forgeKey{}).(**forgeOf)
	if !ok {
		ts.Fatalf("scripts have no place for a forge")
	}
	*place = &forgeOf{ts: ts, service: service, server: server, runner: runner}
}

// runHook runs a hook of the system, which gets no names of files.
func runHook(ts *testscript.TestScript, root, id string) error {
	text, err := os.ReadFile(filepath.Join(root, ".pre-commit-hooks.yaml"))
	ts.Check(err)
	var hooks []struct {
		ID, Entry, Language string
		Pass                *bool `yaml:"pass_filenames"`
	}
	ts.Check(yaml.Unmarshal(text, &hooks))
	for _, hook := range hooks {
		if hook.ID != id {
			continue
		}
		if hook.Language != "system" || hook.Pass == nil || *hook.Pass {
			ts.Fatalf("hook %s is of another kind than this test runs", id)
		}
		words := strings.Fields(hook.Entry)
		if err := ts.Exec(words[0], words[1:]...); err != nil {
			return err
		}
		return ts.Exec("git", "diff", "--exit-code") // a change is a failure
	}
	ts.Fatalf("there is no hook %s", id)
	return nil
}

func (f *forgeOf) do(neg bool, args []string) {
	ts, rest := f.ts, args[1:]
	switch args[0] {
	case "push":
		f.pushed(rest[0], rest[1])
	case "merge":
		f.merge(rest[0], rest[1])
	case "job":
		err := f.job(rest)
		f.checkLog()
		if failed := err != nil; failed != neg {
			ts.Fatalf("job %s: error %v", rest[0], err)
		}
	case "skipped":
		if err := f.job(rest); !errors.Is(err, forgetest.ErrSkipped) {
			ts.Fatalf("job %s is not skipped: error %v", rest[0], err)
		}
	case "comments":
		var b strings.Builder
		for _, comment := range f.server.Comments(rest[0]) {
			fmt.Fprintf(&b, "comment %d by %s\n%s\n", comment.ID, comment.Author, comment.Body)
		}
		f.write("comments", b.String())
	case "comment":
		f.server.Comment(rest[0], rest[1], rest[2])
	case "permit":
		f.server.Permit(rest[0], rest[1])
	case "race":
		f.server.Race()
	case "fail":
		status, err := strconv.Atoi(rest[2])
		ts.Check(err)
		times, err := strconv.Atoi(rest[3])
		ts.Check(err)
		fault := forgetest.Fault{Method: rest[0], Path: rest[1], Status: status, Times: times}
		if len(rest) > 4 {
			fault.RetryAfter = rest[4]
		}
		f.server.Fail(fault)
	case "kill":
		if len(rest) == 2 {
			f.server.Fail(forgetest.Fault{Method: rest[0], Path: rest[1], Times: 1, Then: f.runner.Kill})
			return
		}
		file, killed := ts.MkAbs(rest[0]), make(chan struct{})
		go func() {
			defer close(killed)
			deadline := time.After(testenv.Patience)
			for {
				if _, err := os.Stat(file); err == nil {
					f.runner.Kill()
					return
				}
				select {
				case <-deadline: // the job ends by itself, and the script fails
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		ts.Defer(func() { <-killed })
	default:
		ts.Fatalf("forge %s is nothing", args[0])
	}
}

func (f *forgeOf) write(name, text string) {
	f.ts.Check(os.WriteFile(filepath.Join(f.ts.Getenv("WORK"), name), []byte(text), 0o600))
}

// checkLog keeps the log of a job, and finds secrets in it.
func (f *forgeOf) checkLog() {
	log := f.runner.Log.String()
	f.ts.Logf("%s", log)
	f.write("log", log)
	for _, secret := range []string{forgetest.Token, f.ts.Getenv("CAIRN_ENCRYPTION"), f.ts.Getenv("TOKEN")} {
		if secret != "" && strings.Contains(log, secret) {
			f.ts.Fatalf("the log shows the secret %s", secret)
		}
	}
	if n := f.server.Unauthorized(); n > 0 {
		f.ts.Fatalf("%d requests had no token, or had it for a store of artifacts", n)
	}
}

// git runs git in the origin and returns the line that it prints.
func (f *forgeOf) git(args ...string) string {
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Dir = filepath.Join(f.ts.Getenv("WORK"), "origin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.ts.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// refs are those of a request: its head, and what a merge would come to.
func (f *forgeOf) refs(number string) (head, merge string) {
	if f.service == forgetest.GitHub {
		return "refs/pull/" + number + "/head", "refs/pull/" + number + "/merge"
	}
	return "refs/merge-requests/" + number + "/head", "refs/merge-requests/" + number + "/merge"
}

// pushed makes the refs of a request, as both services do after a push.
func (f *forgeOf) pushed(number, branch string) {
	head, merge := f.refs(number)
	f.git("update-ref", head, branch)
	tree := f.git("merge-tree", "--write-tree", "main", branch)
	f.git("update-ref", merge, f.git("commit-tree", "-p", "main", "-p", branch, "-m", "merge", tree))
}

func (f *forgeOf) merge(number, way string) {
	head, merge := f.refs(number)
	tree := f.git("merge-tree", "--write-tree", "main", head)
	result := head
	switch way {
	case "merge":
		result = f.git("commit-tree", "-p", "main", "-p", head, "-m", "merge", tree)
	case "squash":
		result = f.git("commit-tree", "-p", "main", "-m", "squash", tree)
	}
	f.git("update-ref", merge, result)
	f.git("update-ref", "refs/heads/main", result)
	f.server.Merged(f.git("rev-parse", "main"), number)
}

// job plays a job: its name, the event, and the arguments of that.
func (f *forgeOf) job(args []string) error {
	text, err := os.ReadFile(filepath.Join(f.runner.Root, "examples", "ci", string(f.service)+".yml"))
	f.ts.Check(err)
	f.runner.Vars = map[string]string{"CAIRN_ENCRYPTION": f.ts.Getenv("CAIRN_ENCRYPTION")}
	if f.service == forgetest.GitHub {
		f.runner.Vars["TOKEN"] = f.ts.Getenv("TOKEN")
		return f.runner.GitHub(text, args[0], f.gitHubEvent(args[1], args[2], args[3:]))
	}
	f.runner.Vars["TF_VAR_token"] = f.ts.Getenv("TOKEN")
	return f.runner.GitLab(text, args[0], f.pipeline(args[1], args[2], args[3:]))
}

func (f *forgeOf) gitHubEvent(name, number string, args []string) forgetest.Event {
	head, merge := f.refs(number)
	n, err := strconv.Atoi(number)
	f.ts.Check(err)
	request := map[string]any{
		"number": n, "merged": name == "merged", "head": map[string]any{"sha": f.git("rev-parse", head)},
		"merge_commit_sha": f.git("rev-parse", merge),
	}
	switch name {
	case "pushed":
		return forgetest.Event{Name: "pull_request", Ref: merge, Payload: map[string]any{"action": "synchronize", "pull_request": request}}
	case "merged":
		return forgetest.Event{Name: "pull_request", Ref: "main", Payload: map[string]any{"action": "closed", "pull_request": request}}
	}
	return forgetest.Event{Name: "issue_comment", Ref: "main", Payload: map[string]any{
		"action":  "created",
		"issue":   map[string]any{"number": n, "pull_request": map[string]any{}},
		"comment": map[string]any{"user": map[string]any{"login": args[0]}, "body": args[1]},
	}}
}

func (f *forgeOf) pipeline(name, number string, args []string) forgetest.Pipeline {
	head, _ := f.refs(number)
	switch name {
	case "pushed":
		return forgetest.Pipeline{Ref: head, Variables: map[string]string{
			"CI_MERGE_REQUEST_IID": number, "CI_COMMIT_SHA": f.git("rev-parse", head),
		}}
	case "merged":
		return forgetest.Pipeline{Ref: "main", Variables: map[string]string{"CI_COMMIT_SHA": f.git("rev-parse", "main")}}
	}
	user, err := strconv.Atoi(args[0])
	f.ts.Check(err)
	iid, err := strconv.Atoi(number)
	f.ts.Check(err)
	payload, err := json.Marshal(map[string]any{
		"object_kind": "note", "user": map[string]any{"id": user},
		"object_attributes": map[string]any{"note": args[1], "action": "create"},
		"merge_request":     map[string]any{"iid": iid, "last_commit": map[string]any{"id": f.git("rev-parse", head)}},
	})
	f.ts.Check(err)
	f.write("payload.json", string(payload))
	return forgetest.Pipeline{Ref: "main", Variables: map[string]string{
		"CI_COMMIT_SHA": f.git("rev-parse", "main"), "TRIGGER_PAYLOAD": filepath.Join(f.ts.Getenv("WORK"), "payload.json"),
	}}
}

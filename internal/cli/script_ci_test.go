// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// ciCommand is the command ci of scripts, which plays the runner of a CI service.
//
//   - ci files: writes the shell scripts of docs/ci.md into the current directory
//   - ci SERVICE JOB: runs a job of docs/ci.md, GitHub or GitLab, in a new directory, with a clone
//     of the repository in $WORK/repository. It must fail after "!"
//
// Secrets are the variables of the script. Of programs of the service, only the results are there:
// artifacts are in $WORK/artifacts, outputs in $WORK/outputs.
func ciCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if args[0] == "files" {
			for _, file := range shellScripts.FindAllStringSubmatch(string(text), -1) {
				ts.Check(os.WriteFile(ts.MkAbs(file[1]), []byte(file[2]), 0o600))
			}
			return
		}
		_, section, _ := strings.Cut(string(text), "\n## "+args[0])
		block := yamlBlock.FindStringSubmatch(section)
		if block == nil {
			ts.Fatalf("docs/ci.md has no jobs for %s", args[0])
		}
		j := &ciJob{ts: ts, name: args[1]}
		j.dir = filepath.Join(ts.Getenv("WORK"), "job-"+rand.Text())
		err := os.Mkdir(j.dir, 0o700)
		ts.Check(err)
		switch args[0] {
		case "GitHub":
			err = j.runGitHub(block[1])
		default:
			err = j.runGitLab(block[1])
		}
		ts.Logf("%s", j.log.String())
		ts.Check(os.WriteFile(ts.MkAbs("log"), []byte(j.log.String()), 0o600))
		if failed := err != nil; failed != neg {
			ts.Fatalf("job %s: error %v", j.name, err)
		}
	}
}

var (
	shellScripts = regexp.MustCompile("(?m)^`([a-z]+\\.sh)`.*:\n\n```sh\n((?s:.*?))```")
	yamlBlock    = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	expression   = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
)

// ciJob is a job that runs.
type ciJob struct {
	ts   *testscript.TestScript
	name string
	dir  string
	env  map[string]string
	log  strings.Builder
}

// shell runs a command as runners do.
func (j *ciJob) shell(script string) error {
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.dir, &j.log, &j.log
	for _, name := range []string{"PATH", "HOME", "WORK", "TF_CLI_CONFIG_FILE", "CHECKPOINT_DISABLE", "AWS_ENDPOINT_URL_S3"} {
		cmd.Env = append(cmd.Env, name+"="+j.ts.Getenv(name))
	}
	for name, value := range j.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	fmt.Fprintf(&j.log, "$ %s\n", script)
	return cmd.Run()
}

func (j *ciJob) clone() error {
	return j.shell("git clone -q " + filepath.Join(j.ts.Getenv("WORK"), "repository") + " .")
}

// isInstall reports whether a step installs cairn, which scripts have.
func isInstall(script string) bool { return strings.HasPrefix(script, "go install ") }

func (j *ciJob) artifact(name string) string {
	return filepath.Join(j.ts.Getenv("WORK"), "artifacts", filepath.Base(name))
}

// keep copies a file of the job to where artifacts are.
func (j *ciJob) keep(name string) error {
	return j.shell("mkdir -p $WORK/artifacts && cp " + name + " " + j.artifact(name))
}

// gitHubJobs are the parts of a file of jobs that are played.
type gitHubJobs struct {
	Env  map[string]string
	Jobs map[string]struct {
		If    string
		Steps []gitHubStep
	}
}

type gitHubStep struct {
	ID   string
	Uses string
	If   string
	Run  string
	With map[string]string
	Env  map[string]string
}

func (j *ciJob) runGitHub(text string) error {
	var all gitHubJobs
	j.ts.Check(yaml.Unmarshal([]byte(text), &all))
	job, ok := all.Jobs[j.name]
	if !ok {
		j.ts.Fatalf("there is no job %s", j.name)
	}
	if job.If != "" && !j.holds(job.If) {
		return fmt.Errorf("skipped: %s", job.If)
	}
	for _, step := range job.Steps {
		if step.If != "" && !j.holds(step.If) {
			continue
		}
		j.env = map[string]string{
			"GITHUB_STEP_SUMMARY": filepath.Join(j.dir, "summary"), "GITHUB_OUTPUT": filepath.Join(j.ts.Getenv("WORK"), "outputs"),
		}
		for _, variables := range []map[string]string{all.Env, step.Env} {
			for name, value := range variables {
				j.env[name] = j.expand(value)
			}
		}
		if err := j.gitHubStep(step); err != nil {
			return err
		}
	}
	return nil
}

func (j *ciJob) gitHubStep(step gitHubStep) error {
	action, _, _ := strings.Cut(step.Uses, "@")
	switch action {
	case "":
		if isInstall(step.Run) {
			return nil
		}
		// A role gives these to later steps.
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
			j.env[name] = j.ts.Getenv(name)
		}
		return j.shell(step.Run)
	case "actions/checkout":
		return j.clone()
	case "actions/upload-artifact":
		return j.keep(step.With["path"])
	case "actions/download-artifact":
		return j.shell("cp $WORK/artifacts/* .")
	case "actions/setup-go", "aws-actions/configure-aws-credentials":
		return nil
	}
	return fmt.Errorf("nobody knows %s", step.Uses)
}

// expand replaces secrets.
func (j *ciJob) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name, ok := strings.CutPrefix(expression.FindStringSubmatch(found)[1], "secrets.")
		if !ok {
			j.ts.Fatalf("nobody knows %s", found)
		}
		return j.ts.Getenv(name)
	})
}

// holds evaluates a condition: that an output of the job plan is "true".
func (j *ciJob) holds(condition string) bool {
	if !strings.HasSuffix(condition, "plan.outputs.changes == 'true'") {
		j.ts.Fatalf("nobody knows the condition %s", condition)
	}
	outputs, _ := os.ReadFile(filepath.Join(j.ts.Getenv("WORK"), "outputs")) // none is false
	return slices.Contains(strings.Split(string(outputs), "\n"), "changes=true")
}

// gitLabJob is a job, with what is played of it.
type gitLabJob struct {
	Needs     []string
	Script    []string
	Artifacts struct{ Paths []string }
}

func (j *ciJob) runGitLab(text string) error {
	var all struct {
		Variables map[string]string
		Before    []string             `yaml:"before_script"`
		Jobs      map[string]yaml.Node `yaml:",inline"`
	}
	j.ts.Check(yaml.Unmarshal([]byte(text), &all))
	node, ok := all.Jobs[j.name]
	if !ok {
		j.ts.Fatalf("there is no job %s", j.name)
	}
	var job gitLabJob
	j.ts.Check(node.Decode(&job))
	j.env = map[string]string{}
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "CAIRN_ENCRYPTION", "TF_VAR_token"} {
		j.env[name] = j.ts.Getenv(name)
	}
	for name, value := range all.Variables {
		// The server of the test has no certificate.
		j.env[name] = strings.Replace(value, "&sslmode=verify-full", "", 1)
	}
	if err := j.clone(); err != nil {
		return err
	}
	if len(job.Needs) > 0 {
		if err := j.shell("cp $WORK/artifacts/* ."); err != nil {
			return err
		}
	}
	for _, command := range slices.Concat(all.Before, job.Script) {
		if isInstall(command) {
			continue
		}
		if err := j.shell(command); err != nil {
			return err
		}
	}
	for _, path := range job.Artifacts.Paths {
		if _, err := os.Stat(filepath.Join(j.dir, path)); err != nil {
			continue
		}
		if err := j.keep(path); err != nil {
			return err
		}
	}
	return nil
}

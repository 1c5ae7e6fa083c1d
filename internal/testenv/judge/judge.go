// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package judge runs terraform and tofu for tests that compare cairn with them.
package judge

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"
)

// Judge is an engine in a directory.
type Judge struct {
	*tfexec.Terraform
	t       testing.TB
	environ map[string]string
	output  sync.Mutex // held while its target is set
}

// New returns an engine with the environment of the test and variables besides. It is ended with
// the test.
func New(t testing.TB, program, dir string, environ ...string) *Judge {
	t.Helper()
	engine, err := tfexec.NewTerraform(dir, program)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{Terraform: engine, t: t, environ: map[string]string{}}
	for _, variable := range append(os.Environ(), environ...) {
		name, value, _ := strings.Cut(variable, "=")
		j.environ[name] = value
	}
	j.environ = tfexec.CleanEnv(j.environ)
	j.environ["CHECKPOINT_DISABLE"] = "1"
	if err := engine.SetWaitDelay(10 * time.Second); err != nil { // for the pipes that its children may have
		t.Fatal(err)
	}
	if err := engine.SetEnv(j.environ); err != nil {
		t.Fatal(err)
	}
	return j
}

// Setenv sets a variable for the commands that follow.
func (j *Judge) Setenv(name, value string) {
	j.t.Helper()
	j.environ[name] = value
	if err := j.SetEnv(j.environ); err != nil {
		j.t.Fatal(err)
	}
}

// Printed returns the standard output of a command as it is, which must succeed: the structures of
// terraform-json have only the known parts of it.
func (j *Judge) Printed(run func() error) []byte {
	j.t.Helper()
	j.output.Lock()
	defer j.output.Unlock()
	if _, _, err := j.Version(j.t.Context(), false); err != nil { // else the first command asks for it, and prints that, too
		j.t.Fatal(err)
	}
	var printed bytes.Buffer
	j.SetStdout(&printed)
	defer j.SetStdout(io.Discard)
	if err := run(); err != nil {
		j.t.Fatalf("%s: %v", j.ExecPath(), err)
	}
	return printed.Bytes()
}

// Said returns all that a command writes, whether it succeeds or fails.
func (j *Judge) Said(run func() error) string {
	j.output.Lock()
	defer j.output.Unlock()
	var stdout, stderr bytes.Buffer // each is written to at any time
	j.SetStdout(&stdout)
	j.SetStderr(&stderr)
	defer j.SetStdout(io.Discard)
	defer j.SetStderr(io.Discard)
	if err := run(); err != nil && stderr.Len() == 0 {
		return stdout.String() + err.Error()
	}
	return stdout.String() + stderr.String()
}

// Schemas returns the JSON document with the schemas of the providers.
func (j *Judge) Schemas() []byte {
	j.t.Helper()
	return j.Printed(func() error {
		_, err := j.ProvidersSchema(j.t.Context())
		return err
	})
}

// ShowPlan returns the JSON document of a plan file.
func (j *Judge) ShowPlan(path string) []byte {
	j.t.Helper()
	return j.Printed(func() error {
		_, err := j.ShowPlanFile(j.t.Context(), path, tfexec.JSONNumber(true))
		return err
	})
}

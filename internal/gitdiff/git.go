// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Problem is an error that a user can do something about.
type Problem struct {
	Summary, Detail string

	Code fault.Code // for callers that know a remedy; or ""
}

// The problems that callers may know a remedy for.
const (
	CodeNoBase       fault.Code = "gitdiff/no-base"       // naming another base would help
	CodeNoRepository fault.Code = "gitdiff/no-repository" // git cannot be asked
)

func (p *Problem) Error() string { return p.Summary + ": " + p.Detail }

func newProblem(code fault.Code, summary, detail string, args ...any) error {
	return &Problem{summary, fmt.Sprintf(detail, args...), code}
}

// Repository is a git repository with its files.
type Repository struct {
	Dir string // absolute path of its top directory, without links

	// AllRenames finds renamed files among any number of changed ones, however long that takes.
	AllRenames bool

	git string
}

// Open finds the repository that a directory is in.
//
// Errors: [*Problem] where there is none, or no git.
func Open(ctx context.Context, dir string) (*Repository, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, newProblem(CodeNoRepository, "Git not found",
			"Changes are found with git, and there is no git on PATH. Install git.")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Repository{Dir: abs, git: git}
	top, err := r.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		if strings.Contains(err.Error(), "not a git repository") {
			return nil, newProblem(CodeNoRepository, "Not a Git repository",
				"Changes are found with git, and %s is in no git repository. Go to one.", abs)
		}
		hint := ""
		if strings.Contains(err.Error(), "dubious ownership") {
			hint = " It belongs to somebody else, whose configuration git would use. " +
				"If you trust them: git config --global --add safe.directory DIRECTORY."
		}
		return nil, newProblem("", "Unusable Git repository", "Git cannot use the repository of %s: %s.%s", abs, err, hint)
	}
	r.Dir = filepath.FromSlash(strings.TrimSuffix(top, "\n"))
	return r, nil
}

// command is a git process in the repository (rule G2).
func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{
		"-C", r.Dir, "-c", "core.fsmonitor=false", "-c", "core.quotepath=false", "--no-optional-locks", "--literal-pathspecs",
	}, args...)
	cmd := exec.CommandContext(ctx, r.git, args...)
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), choosesRepository), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	return cmd
}

// choosesRepository reports whether a variable of the environment would make git use something
// other than the repository of the directory (rule G3).
func choosesRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX":
		return true
	}
	return false
}

// run runs git and returns its output.
func (r *Repository) run(ctx context.Context, args ...string) (string, error) {
	cmd := r.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		text, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if text == "" {
			return "", err
		}
		return "", errors.New(strings.TrimPrefix(text, "fatal: "))
	}
	return stdout.String(), nil
}

// line runs git and returns the one line that it prints, "" if it fails.
func (r *Repository) line(ctx context.Context, args ...string) string {
	text, err := r.run(ctx, args...)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// commit returns the ID of a commit by one of its names, "" if there is none.
func (r *Repository) commit(ctx context.Context, name string) string {
	return r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
}

func (r *Repository) isShallow(ctx context.Context) bool {
	return r.line(ctx, "rev-parse", "--is-shallow-repository") == "true"
}

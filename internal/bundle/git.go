// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/unpack"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// gitFetcher gets commits with the git binary, and so with the settings of users for it: keys,
// credential helpers, proxies, replaced addresses.
type gitFetcher struct {
	environ []string
}

var (
	commitPattern = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	credentials   = regexp.MustCompile(`(://)[^/@\s']+@`)
)

// fetch puts the files of a commit into an empty directory: the given commit, or if that is empty,
// the one that the address names. It returns the commit's full name.
func (g *gitFetcher) fetch(ctx context.Context, location *url.URL, dir, commit string) (string, error) {
	ref := location.Query().Get("ref")
	repository := *location
	repository.RawQuery = ""
	if strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("%q is not a name of a branch, tag or commit", ref)
	}
	if _, err := g.run(ctx, "init", "--quiet", "--template=", dir); err != nil {
		return "", err
	}
	wanted, err := g.fetchCommit(ctx, repository.String(), dir, firstSet(commit, ref, "HEAD"))
	if commit != "" && errors.Is(err, errMissingRef) {
		err = fmt.Errorf("%w: %w", stackconfig.ErrLocked, err)
	}
	if err != nil {
		return "", err
	}
	if _, err := g.run(ctx, "-C", dir, "checkout", "--quiet", "--detach", "--force", wanted); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitmodules")); err == nil {
		if err := g.submodules(ctx, repository.String(), dir); err != nil {
			return "", err
		}
	}
	if err := removeGitFiles(dir); err != nil {
		return "", err
	}
	return wanted, unpack.CheckLinks(dir)
}

// errMissingRef means that a repository lacks the requested branch, tag or commit.
var errMissingRef = errors.New("the repository has no branch, tag or commit")

// fetchCommit gets a commit and returns its full name. Without history if the server allows that,
// which for commits that no branch or tag points at not all do.
func (g *gitFetcher) fetchCommit(ctx context.Context, repository, dir, ref string) (string, error) {
	_, err := g.run(ctx, "-C", dir, "fetch", "--quiet", "--no-tags", "--depth=1", "--", repository, ref)
	if err == nil {
		return g.run(ctx, "-C", dir, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
	}
	var failed *gitError
	if ctx.Err() != nil || !errors.As(err, &failed) || !failed.missesRef() {
		return "", err
	}
	if commitPattern.MatchString(ref) {
		if _, err := g.run(ctx, "-C", dir, "fetch", "--quiet", "--", repository, "+refs/*:refs/remotes/origin/*"); err != nil {
			return "", err
		}
		if commit, err := g.run(ctx, "-C", dir, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
			return commit, nil
		}
	}
	if ref == "HEAD" {
		return "", errors.New("the repository is empty, or has no default branch")
	}
	return "", fmt.Errorf("%w %q", errMissingRef, ref)
}

func (g *gitFetcher) submodules(ctx context.Context, repository, dir string) error {
	// Relative addresses in .gitmodules are relative to that of the repository.
	if _, err := g.run(ctx, "-C", dir, "remote", "add", "origin", repository); err != nil {
		return err
	}
	_, err := g.run(ctx, "-C", dir, "submodule", "--quiet", "update", "--init", "--recursive", "--depth=1")
	return err
}

// removeGitFiles removes the files that git needs and the package doesn't.
func removeGitFiles(dir string) error {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != ".git" {
			return err
		}
		found = append(found, path)
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	for _, path := range found {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// gitError is a failure of the git binary.
type gitError struct {
	stderr string
	err    error
}

func (e *gitError) Error() string {
	var lines []string
	for line := range strings.Lines(e.stderr) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "warning:") && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: "))
		}
	}
	if len(lines) == 0 {
		return "git failed: " + e.err.Error()
	}
	said := strings.Join(lines[max(0, len(lines)-5):], " / ")
	return "git failed: " + strings.TrimSuffix(credentials.ReplaceAllString(said, "$1"), ".")
}

func (e *gitError) Unwrap() error { return e.err }

// missesRef reports whether the server was reached, but didn't give the requested commit.
func (e *gitError) missesRef() bool {
	for _, text := range []string{"couldn't find remote ref", "not our ref", "unadvertised object", "allow request for", "invalid refspec"} {
		if strings.Contains(e.stderr, text) {
			return true
		}
	}
	return false
}

// run runs git and returns its trimmed output.
func (g *gitFetcher) run(ctx context.Context, args ...string) (string, error) {
	binary, err := g.lookUp()
	if err != nil {
		return "", err
	}
	fixed := []string{"-c", "core.autocrlf=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "advice.detachedHead=false", "-c", "gc.auto=0"}
	cmd := exec.CommandContext(ctx, binary, append(fixed, args...)...)
	cmd.Env = g.environment()
	// It ends its helpers then. An interrupt may be ignored, as in background jobs of shells.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &gitError{stderr.String(), err}
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lookUp finds the binary in the search path of the environment.
func (g *gitFetcher) lookUp() (string, error) {
	missing := errors.New("the program git is not installed, or not on PATH")
	at := slices.IndexFunc(g.environ, func(entry string) bool { return strings.HasPrefix(strings.ToUpper(entry), "PATH=") })
	if at < 0 {
		return "", missing
	}
	for _, dir := range filepath.SplitList(g.environ[at][len("PATH="):]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			return path, nil
		}
	}
	return "", missing
}

// environment returns the environment of git processes: nothing of a repository that this program
// may have been called from, no questions, and no other ways to get code than the language allows.
func (g *gitFetcher) environment() []string {
	environ := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh"}
	for _, entry := range g.environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(repositoryVariables, name) && name != "LC_ALL" {
			environ = append(environ, entry)
		}
	}
	return environ
}

// repositoryVariables say where a repository is. Hooks have them.
var repositoryVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_CONFIG", "GIT_QUARANTINE_PATH",
}

func firstSet(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

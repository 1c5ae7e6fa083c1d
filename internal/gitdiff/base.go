// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"context"
	"strings"
)

// comparison has the two sides of a comparison: two commits, or a commit and the files as they are
// now.
type comparison struct {
	from string
	to   string // "" for the files
	name string // of the base, for people
}

// compare finds the sides to compare. The base may be a name of a commit, a range FROM..TO, or
// empty.
func (r *Repository) compare(ctx context.Context, base string) (comparison, error) {
	if from, to, isRange := strings.Cut(base, ".."); isRange {
		return r.commitRange(ctx, base, from, to)
	}
	head := r.commit(ctx, "HEAD")
	if head == "" {
		return comparison{}, newProblem("", "No commits",
			"The repository %s has no commits yet, so that nothing can have changed since. Commit something first.", r.Dir)
	}
	if base != "" {
		from, err := r.mergeBase(ctx, base, head)
		return comparison{from: from, name: base}, err
	}
	name := r.defaultBranch(ctx)
	if name == "" {
		if r.isShallow(ctx) {
			return comparison{}, newProblem(CodeNoBase, "Base not in the clone",
				"The clone in %s is shallow and has no default branch to compare with. "+
					"Fetch it (git fetch --unshallow origin), or name a base that is there.", r.Dir)
		}
		return comparison{}, newProblem(CodeNoBase, "Missing base for comparison",
			"The repository %s has none of the branches origin/HEAD, origin/main, origin/master, main and master. Name the base.", r.Dir)
	}
	from, err := r.mergeBase(ctx, name, head)
	if err != nil || from != head {
		return comparison{from: from, name: name}, err
	}
	return r.last(ctx, head)
}

// defaultBranch returns the branch that work usually leaves, "" if there is none.
func (r *Repository) defaultBranch(ctx context.Context) string {
	if name := r.line(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); name != "" && r.commit(ctx, name) != "" {
		return name
	}
	for _, name := range []string{"origin/main", "origin/master", "main", "master"} {
		if r.commit(ctx, name) != "" {
			return name
		}
	}
	return ""
}

// last compares with the commit before, since there is nothing new on the default branch itself.
func (r *Repository) last(ctx context.Context, head string) (comparison, error) {
	if parent := r.commit(ctx, head+"^"); parent != "" {
		return comparison{from: parent, name: "the commit before"}, nil
	}
	if r.isShallow(ctx) {
		return comparison{}, newProblem(CodeNoBase, "Base not in the clone",
			"The clone in %s is shallow: it has not the commit before the last. "+
				"Fetch more (git fetch --deepen=1), or name a base that is there.", r.Dir)
	}
	empty, err := r.run(ctx, "hash-object", "-t", "tree", "--stdin")
	if err != nil {
		return comparison{}, err
	}
	return comparison{from: strings.TrimSpace(empty), name: "nothing, as there is one commit only"}, nil
}

func (r *Repository) mergeBase(ctx context.Context, name, head string) (string, error) {
	commit := r.commit(ctx, name)
	if commit == "" {
		return "", r.unknown(ctx, name)
	}
	from := r.line(ctx, "merge-base", commit, head)
	switch {
	case from != "":
		return from, nil
	case r.isShallow(ctx):
		return "", newProblem(CodeNoBase, "Base not in the clone",
			"The clone in %s is shallow and has not the commit where the work left %q. "+
				"Fetch more (git fetch --unshallow), or name a base that is there.", r.Dir, name)
	}
	return "", newProblem(CodeNoBase, "No common history with base",
		"The commits have nothing in common with those of %q. Name another base.", name)
}

func (r *Repository) commitRange(ctx context.Context, text, from, to string) (comparison, error) {
	threeDots := strings.HasPrefix(to, ".")
	to = strings.TrimPrefix(to, ".")
	c := comparison{name: text}
	for _, end := range []struct {
		name string
		id   *string
	}{{from, &c.from}, {to, &c.to}} {
		if end.name == "" {
			end.name = "HEAD"
		}
		if *end.id = r.commit(ctx, end.name); *end.id == "" {
			return comparison{}, r.unknown(ctx, end.name)
		}
	}
	if !threeDots {
		return c, nil
	}
	var err error
	c.from, err = r.mergeBase(ctx, c.from, c.to)
	return c, err
}

func (r *Repository) unknown(ctx context.Context, name string) error {
	if r.isShallow(ctx) {
		return newProblem(CodeNoBase, "Base not in the clone",
			"There is no commit %q in the shallow clone in %s. Fetch it (git fetch --unshallow origin), or name a base that is there.", name, r.Dir)
	}
	return newProblem("", "Unknown base",
		"There is no commit %q in %s. Name a branch, tag or commit, or a range as in main..HEAD.", name, r.Dir)
}

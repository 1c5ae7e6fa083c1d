// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
)

// Layout says which files of a module tree a working copy links to, and where.
type Layout struct {
	// Top is the directory that the top of the working copy stands for. All that files of the
	// module reach by relative paths lies below it.
	Top string

	// Root is the module's directory relative to Top.
	Root string

	dirs  []string // real directories, relative to the top of the copy, parents first
	links []link
	files []link // all regular files of the modules, sorted
}

// link is a file or directory of a module in a working copy.
type link struct {
	source string // absolute
	target string // relative to the top of the copy
}

// NewLayout looks at the files of a tree. Nothing below the directory excluded becomes part of the
// copy.
func NewLayout(tree *module.Tree, inputs map[string]cty.Value, excluded string) (*Layout, error) {
	layout := &Layout{Top: topDirectory(tree, inputs)}
	root, err := filepath.Rel(layout.Top, tree.Root.Dir)
	if err != nil {
		return nil, fmt.Errorf("laying out a module: %w", err)
	}
	layout.Root = root

	scan := scanner{layout: layout, excluded: excluded, root: tree.Root.Dir, base: layout.Top}
	scan.addModule(tree.Root.Dir)
	mounts := map[*module.Node]*scanner{}
	for _, node := range tree.Nodes {
		mounted := node.Mounted()
		if mounted == nil {
			scan.addModule(node.Dir)
			continue
		}
		if mounts[mounted] == nil {
			mounts[mounted] = &scanner{layout: layout, base: mounted.Package, at: filepath.Join(root, filepath.FromSlash(mounted.Mount))}
		}
		mounts[mounted].addModule(node.Dir)
	}
	if err := scan.directory(layout.Top, false); err != nil {
		return nil, fmt.Errorf("laying out a module: %w", err)
	}
	for _, node := range tree.Nodes {
		if mount := mounts[node]; mount != nil {
			if err := mount.directory(mount.base, false); err != nil {
				return nil, fmt.Errorf("laying out a module: %w", err)
			}
		}
	}
	slices.SortFunc(layout.files, func(a, b link) int { return cmp.Compare(a.target, b.target) })
	return layout, nil
}

// upwards matches steps to parent directories in a text.
var upwards = regexp.MustCompile(`\.\.(?:/\.\.)*`)

// topDirectory returns the lowest directory that holds everything the tree's files, and the
// inputs, name by a relative path. It does not leave a source package.
func topDirectory(tree *module.Tree, inputs map[string]cty.Value) string {
	top := tree.Root.Dir
	widen := func(path string) {
		for !within(top, path) && top != tree.Package {
			top = filepath.Dir(top)
		}
	}
	widen(reach(tree.Root.Directory))
	for _, node := range tree.Nodes {
		if node.Mounted() == nil {
			widen(node.Dir)
			widen(reach(node.Directory))
		}
	}
	for _, value := range inputs {
		//nolint:errcheck // the callback returns no error
		_ = cty.Walk(value, func(_ cty.Path, part cty.Value) (bool, error) {
			part, _ = part.Unmark()
			if part.Type() == cty.String && part.IsKnown() && !part.IsNull() {
				widen(up(tree.Root.Dir, levelsUp([]byte(part.AsString()))))
			}
			return true, nil
		})
	}
	return top
}

// reach returns the highest directory that files of a module name by a relative path.
func reach(dir *module.Directory) string {
	levels := 0
	for _, file := range dir.Files {
		levels = max(levels, levelsUp(file.Source))
	}
	return up(dir.Dir, levels)
}

func levelsUp(text []byte) int {
	levels := 0
	for _, match := range upwards.FindAllIndex(text, -1) {
		if match[1] < len(text) && text[match[1]] == '.' {
			continue // an ellipsis
		}
		levels = max(levels, (match[1]-match[0]+1)/3)
	}
	return levels
}

func up(path string, levels int) string {
	for range levels {
		path = filepath.Dir(path)
	}
	return path
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// scanner walks over the directories of a layout.
type scanner struct {
	layout    *Layout
	excluded  string
	root      string
	base      string          // directory that is scanned
	at        string          // where it is in the copy
	modules   map[string]bool // directories that are copied with all below
	ancestors map[string]bool // directories with a module somewhere below
}

// addModule says that there is a module in a directory below the base.
func (s *scanner) addModule(path string) {
	if s.modules == nil {
		s.modules, s.ancestors = map[string]bool{}, map[string]bool{}
	}
	s.modules[path] = true
	for ; path != s.base && within(s.base, path); path = filepath.Dir(path) {
		s.ancestors[filepath.Dir(path)] = true
	}
}

func (s *scanner) directory(path string, inModule bool) error {
	rel, err := filepath.Rel(s.base, path)
	if err != nil {
		return err
	}
	rel = filepath.Join(s.at, rel)
	s.layout.dirs = append(s.layout.dirs, rel)
	inModule = inModule || s.modules[path]

	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		child := filepath.Join(path, entry.Name())
		switch {
		case child == s.excluded || leftOut(entry.Name(), path == s.root):
		case entry.IsDir() && (inModule || s.modules[child] || s.ancestors[child]):
			if err := s.directory(child, inModule); err != nil {
				return err
			}
		default:
			found := link{source: child, target: filepath.Join(rel, entry.Name())}
			s.layout.links = append(s.layout.links, found)
			if inModule && !entry.IsDir() {
				s.layout.files = append(s.layout.files, found)
			}
		}
	}
	return nil
}

// leftOut reports whether a file would change the behaviour of the engine, were it in the working
// copy: values of variables, state, the files of init.
func leftOut(name string, inRoot bool) bool {
	if name == ".terraform" || name == ".git" || strings.HasPrefix(name, ".terraform.tfstate.lock") {
		return true
	}
	return inRoot && (name == ".terraform.lock.hcl" || module.HasValues(name) ||
		strings.HasPrefix(name, "terraform.tfstate") || name == "errored.tfstate")
}

// Fingerprint changes when a file of the modules was added, removed or written. It is cheap.
func (l *Layout) Fingerprint() (string, error) {
	hash := sha256.New()
	for _, file := range l.files {
		name := filepath.ToSlash(file.target)
		info, err := os.Stat(file.source)
		if err != nil {
			if os.IsNotExist(err) { // a dangling link
				fmt.Fprintf(hash, "%s -\n", name)
				continue
			}
			return "", fmt.Errorf("looking at a module's files: %w", err)
		}
		fmt.Fprintf(hash, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Hash identifies the content of the modules' files.
func (l *Layout) Hash() (string, error) {
	hash := sha256.New()
	for _, file := range l.files {
		if err := hashFile(hash, file); err != nil {
			return "", fmt.Errorf("reading a module's files: %w", err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func hashFile(hash io.Writer, found link) error {
	name := filepath.ToSlash(found.target)
	file, err := os.Open(found.source)
	if os.IsNotExist(err) {
		_, err := fmt.Fprintf(hash, "%s -\n", name)
		return err
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if _, err := fmt.Fprintf(hash, "%s %d\n", name, info.Size()); err != nil {
		return err
	}
	_, err = io.Copy(hash, file)
	return err
}

// build makes the directories and links below dir, except links for which replaced is true.
func (l *Layout) build(dir string, replaced func(rel string) bool) error {
	for _, rel := range l.dirs {
		if err := os.MkdirAll(filepath.Join(dir, rel), 0o700); err != nil {
			return err
		}
	}
	for _, link := range l.links {
		if replaced(link.target) {
			continue
		}
		if err := linkOrCopy(link.source, filepath.Join(dir, link.target)); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy makes a symbolic link, or where the system doesn't let us, a copy.
func linkOrCopy(source, target string) error {
	linkErr := os.Symlink(source, target)
	if linkErr == nil || os.IsExist(linkErr) {
		return linkErr
	}
	info, err := os.Stat(source)
	if err != nil {
		return cmp.Or(linkErr, err)
	}
	if info.IsDir() {
		return os.CopyFS(target, os.DirFS(source))
	}
	if !info.Mode().IsRegular() {
		return linkErr
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, data, info.Mode()&fs.ModePerm&0o700)
}

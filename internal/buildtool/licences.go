// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licensed is a program whose licences are collected.
type licensed struct {
	module  string // the directory of its module, below the root of the repository
	program string // its package
	// platforms are those whose programs link all that any platform's does.
	platforms []string
}

var (
	licensedCairn = licensed{
		".", "github.com/cairnstacks/cairn/cmd/cairn", []string{"linux/amd64", "darwin/arm64", "windows/amd64"},
	}
	licensedServer = licensed{
		"server", "github.com/cairnstacks/cairn/server/cmd/cairn-server", []string{"linux/amd64", "darwin/arm64"},
	}
)

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([.-].*)?$`)

// linkedPackage is a package as "go list -json" describes it.
type linkedPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// licences writes the texts of the licences of all that is linked into cairn to a file of package
// licences, and returns its path.
func licences(ctx context.Context) (string, error) {
	root, err := repositoryRoot(ctx)
	if err != nil {
		return "", err
	}
	owners, err := licenceTexts(ctx, root, licensedCairn)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := errors.Join(writeLicences(w, owners), w.Close()); err != nil {
		return "", err
	}
	path := filepath.Join(root, "internal", "licences", "licences.txt.gz")
	return path, os.WriteFile(path, packed.Bytes(), 0o644) //nolint:gosec // a file of the repository
}

// serverLicences writes the texts of the licences of all that is linked into cairn-server to a
// file, and returns its path.
//
// They are not in the repository, and not in that program: each change of its many modules would
// bring another file of all their texts.
func serverLicences(ctx context.Context, path string) (string, error) {
	root, err := repositoryRoot(ctx)
	if err != nil {
		return "", err
	}
	owners, err := licenceTexts(ctx, root, licensedServer)
	if err != nil {
		return "", err
	}
	var texts bytes.Buffer
	if err := writeLicences(&texts, owners); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // it is published
		return "", err
	}
	return path, os.WriteFile(path, texts.Bytes(), 0o644) //nolint:gosec // the same
}

// licenceOwners has those that have it for each text of a licence.
type licenceOwners map[string][]string

// add adds the files with licences in a directory, and reports whether there are any.
func (o licenceOwners) add(dir, owner string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !isLicence.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return false, err
		}
		found = true
		key := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		if !slices.Contains(o[key], owner) {
			o[key] = append(o[key], owner)
		}
	}
	return found, nil
}

// licenceTexts collects the licences of all that is linked into a program. It fails if a module has
// none.
func licenceTexts(ctx context.Context, root string, program licensed) (licenceOwners, error) {
	goroot, err := goCommand(ctx, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	owners := make(licenceOwners)
	if _, err := owners.add(root, "cairn"); err != nil {
		return nil, err
	}
	if ok, err := owners.add(strings.TrimSpace(string(goroot)), "Go standard library"); err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("licence of Go in %s: found=%t", strings.TrimSpace(string(goroot)), ok))
	}
	found := make(map[string]bool) // by module
	for _, platform := range program.platforms {
		packages, err := linked(ctx, filepath.Join(root, program.module), program.program, platform)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Module == nil || p.Module.Main {
				continue
			}
			owner := p.Module.Path + " " + p.Module.Version
			found[owner] = found[owner] || false
			// Parts of a module that come from elsewhere have theirs beside them.
			for dir := p.Dir; ; dir = filepath.Dir(dir) {
				ok, err := owners.add(dir, owner)
				if err != nil {
					return nil, err
				}
				found[owner] = found[owner] || ok
				if dir == p.Module.Dir || len(dir) <= len(p.Module.Dir) {
					break
				}
			}
		}
	}
	for owner, ok := range found {
		if ok {
			continue
		}
		if err := owners.addOf(ctx, filepath.Join(root, program.module), owner); err != nil {
			return nil, err
		}
	}
	return owners, nil
}

// addOf adds the licence of a module that has no file with it.
func (o licenceOwners) addOf(ctx context.Context, dir, owner string) error {
	if note := withoutLicence[owner]; note != "" {
		o[note] = append(o[note], owner)
		return nil
	}
	name, _, _ := strings.Cut(owner, " ")
	sibling := licensedTogether[name]
	if sibling == "" {
		return fmt.Errorf("%s has no file with its licence", owner)
	}
	at, err := goCommand(ctx, nil, "-C", dir, "list", "-m", "-f", "{{.Dir}}", sibling)
	if err != nil {
		return err
	}
	if ok, err := o.add(strings.TrimSpace(string(at)), owner); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("licence of %s in %s: found=%t", owner, sibling, ok))
	}
	return nil
}

// licensedTogether are modules that come without the file with the licence of their repository, and
// another module of the same repository that comes with it.
var licensedTogether = map[string]string{
	"github.com/cactus/go-statsd-client/statsd": "github.com/cactus/go-statsd-client/v5",
}

// withoutLicence are modules in whose repository there is no licence, with a note in its place. The
// version is named so that the next one is looked at.
var withoutLicence = map[string]string{
	"github.com/nexus-rpc/nexus-proto-annotations v0.1.0": "There is no file with a licence in this module, which is generated from\n" +
		"descriptions of messages, and is required by go.temporal.io/api. The other module\n" +
		"of its authors, github.com/nexus-rpc/sdk-go, is under the MIT License.",
}

// linked are the packages of a program on a platform.
func linked(ctx context.Context, dir, program, platform string) ([]linkedPackage, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	out, err := goCommand(ctx, []string{"GOOS=" + system, "GOARCH=" + architecture, "CGO_ENABLED=0"},
		"-C", dir, "list", "-deps", "-json=Dir,Standard,Module", program)
	if err != nil {
		return nil, err
	}
	var packages []linkedPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p linkedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// repositoryRoot is the directory of the module of cairn.
func repositoryRoot(ctx context.Context) (string, error) {
	root, err := goCommand(ctx, nil, "list", "-m", "-f", "{{.Dir}}")
	return strings.TrimSpace(string(root)), err
}

func goCommand(ctx context.Context, environ []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), environ...)
	command.Stderr = os.Stderr
	return command.Output()
}

// writeLicences writes each text after those that have it: cairn's own, that of Go, then the others
// by their first module.
func writeLicences(w io.Writer, owners licenceOwners) error {
	for _, names := range owners {
		slices.Sort(names)
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		if c := slices.Compare(owners[a], owners[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for i, text := range texts {
		separator := ""
		if i > 0 {
			separator = "\n" + strings.Repeat("-", 80) + "\n\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s\n\n%s\n", separator, strings.Join(owners[text], "\n"), text); err != nil {
			return err
		}
	}
	return nil
}

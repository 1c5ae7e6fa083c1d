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

// released are the platforms whose programs link all that any platform's does.
var released = []string{"linux/amd64", "darwin/arm64", "windows/amd64"}

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

// licences writes the texts of the licences of all that is linked to a file of package licences,
// and returns its path.
func licences(ctx context.Context) (string, error) {
	root, err := goCommand(ctx, nil, "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "", err
	}
	goroot, err := goCommand(ctx, nil, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	owners := make(map[string][]string) // of each text
	add := func(dir, owner string) (bool, error) {
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
			if !slices.Contains(owners[key], owner) {
				owners[key] = append(owners[key], owner)
			}
		}
		return found, nil
	}
	if _, err := add(strings.TrimSpace(string(root)), "cairn"); err != nil {
		return "", err
	}
	if ok, err := add(strings.TrimSpace(string(goroot)), "Go standard library"); err != nil || !ok {
		return "", errors.Join(err, fmt.Errorf("licence of Go in %s: found=%t", strings.TrimSpace(string(goroot)), ok))
	}
	licensed := make(map[string]bool) // modules
	for _, platform := range released {
		packages, err := linked(ctx, platform)
		if err != nil {
			return "", err
		}
		for _, p := range packages {
			if p.Module == nil || p.Module.Main {
				continue
			}
			owner := p.Module.Path + " " + p.Module.Version
			licensed[owner] = licensed[owner] || false
			// Parts of a module that come from elsewhere have theirs beside them.
			for dir := p.Dir; ; dir = filepath.Dir(dir) {
				ok, err := add(dir, owner)
				if err != nil {
					return "", err
				}
				licensed[owner] = licensed[owner] || ok
				if dir == p.Module.Dir || len(dir) <= len(p.Module.Dir) {
					break
				}
			}
		}
	}
	for owner, ok := range licensed {
		if !ok {
			return "", fmt.Errorf("%s has no file with its licence", owner)
		}
	}
	path := filepath.Join(strings.TrimSpace(string(root)), "internal", "licences", "licences.txt.gz")
	packed, err := pack(owners)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, packed, 0o644) //nolint:gosec // a file of the repository
}

// linked are the packages of the program on a platform.
func linked(ctx context.Context, platform string) ([]linkedPackage, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	out, err := goCommand(ctx, []string{"GOOS=" + system, "GOARCH=" + architecture, "CGO_ENABLED=0"},
		"list", "-deps", "-json=Dir,Standard,Module", "github.com/cairnstacks/cairn/cmd/cairn")
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

func goCommand(ctx context.Context, environ []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Env = append(os.Environ(), environ...)
	command.Stderr = os.Stderr
	return command.Output()
}

// pack writes each text after those that have it: cairn's own, that of Go, then the others by their
// first module.
func pack(owners map[string][]string) ([]byte, error) {
	for _, names := range owners {
		slices.Sort(names)
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		if c := slices.Compare(owners[a], owners[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		if i > 0 {
			fmt.Fprintf(w, "\n%s\n\n", strings.Repeat("-", 80))
		}
		fmt.Fprintf(w, "%s\n\n%s\n", strings.Join(owners[text], "\n"), text)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sbom writes the modules of a program that the go command has built, with their licences, to a
// file in the format of CycloneDX, and returns its path.
//
// The list is that in the program itself, so it has neither more nor less than is linked on its
// platform.
func sbom(ctx context.Context, program, path, version string) (string, error) {
	absolute, err := filepath.Abs(program)
	if err != nil {
		return "", err
	}
	root, err := repositoryRoot(ctx)
	if err != nil {
		return "", err
	}
	// Without a serial number and a time, so that the list is the same for the same program.
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=internal/release.mod", "cyclonedx-gomod", "bin",
		"-json", "-licenses", "-assert-licenses", "-std", "-noserial", "-notimestamp", "-version", version, absolute)
	// All modules are there, as the program was built from them, and were compared with go.sum
	// then. The tool would ask for the program's own, too, which is not published yet; and it has
	// no go.sum, so that it would ask the database of checksums for each of them.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off")
	cmd.Dir = root
	var messages bytes.Buffer
	cmd.Stderr = &messages
	listed, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cyclonedx-gomod: %w\n%s", err, messages.Bytes())
	}
	completed, err := completeSBOM(listed, version)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, completed, 0o644) //nolint:gosec // it is published
}

// completeSBOM adds what the tool cannot find out: the version and the licence of the program, and
// the licence of Go. It fails if a licence is missing.
func completeSBOM(listed []byte, version string) ([]byte, error) {
	// As a tree: the document has much that nothing here looks at, and that has to stay.
	var document map[string]any
	if err := json.Unmarshal(listed, &document); err != nil {
		return nil, err
	}
	metadata, _ := document["metadata"].(map[string]any)
	program, _ := metadata["component"].(map[string]any)
	components, _ := document["components"].([]any)
	if program == nil || len(components) == 0 {
		return nil, errors.New("the list of modules has no program, or no modules")
	}
	program["version"] = version
	program["licenses"] = license("MPL-2.0", "declared")
	var without []string
	for _, component := range components {
		module, ok := component.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("not a component: %v", component)
		}
		name := fmt.Sprint(module["name"])
		if name == "std" {
			module["licenses"] = license("BSD-3-Clause", "declared")
		}
		if id := readLicenses[name]; id != "" && module["licenses"] == nil {
			module["licenses"] = license(id, "concluded")
		}
		if withoutLicence[fmt.Sprintf("%s %v", name, module["version"])] != "" && module["licenses"] == nil {
			none := map[string]any{"name": "none found: see LICENSES.txt beside the program"}
			module["licenses"] = []any{map[string]any{"license": none}}
		}
		licenses, _ := module["licenses"].([]any)
		if len(licenses) == 0 {
			without = append(without, name)
		}
		for _, l := range licenses {
			// Recognized by their texts, which is not the word of those who gave them.
			if l, ok := l.(map[string]any)["license"].(map[string]any); ok && l["acknowledgement"] == nil {
				l["acknowledgement"] = "concluded"
			}
		}
	}
	if len(without) > 0 {
		return nil, fmt.Errorf("no licence was recognized of: %s", strings.Join(without, ", "))
	}
	var completed bytes.Buffer
	encoder := json.NewEncoder(&completed)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return completed.Bytes(), err
}

// readLicenses are those that the tool does not recognize, though a person does: their texts have
// other titles than it expects, or come with a module of [licensedTogether].
var readLicenses = map[string]string{
	"github.com/cactus/go-statsd-client/statsd": "MIT",
	"github.com/cenkalti/backoff/v5":            "MIT",
	"github.com/fatih/color":                    "MIT",
	"github.com/ncruces/go-strftime":            "MIT",
	"github.com/rcrowley/go-metrics":            "BSD-2-Clause-Views",
	"github.com/tidwall/btree":                  "MIT",
	"github.com/twmb/murmur3":                   "BSD-3-Clause",
}

func license(id, acknowledgement string) []any {
	return []any{map[string]any{"license": map[string]any{"id": id, "acknowledgement": acknowledgement}}}
}

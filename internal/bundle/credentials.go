// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/terraform-svchost"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// cliConfig is what the user's CLI configuration says of hosts.
type cliConfig struct {
	tokens   map[svchost.Hostname]string
	services map[svchost.Hostname]map[string]string // addresses, by service
}

// tokenPrefix starts the names of variables with tokens: TF_TOKEN_app_example_com.
const tokenPrefix = "TF_TOKEN_"

// readCLIConfig reads the configuration that the engine would read, and the tokens in the environment, which beat it.
func readCLIConfig(environ []string) (*cliConfig, error) {
	config := &cliConfig{tokens: map[svchost.Hostname]string{}, services: map[svchost.Hostname]map[string]string{}}
	var problems error
	for _, path := range CLIConfigFiles(environ) {
		if err := config.addFile(path); err != nil {
			problems = errors.Join(problems, fmt.Errorf("the CLI configuration %s cannot be used: %w", path, err))
		}
	}
	for _, entry := range environ {
		name, token, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok || token == "" {
			continue
		}
		host := strings.ReplaceAll(strings.ReplaceAll(encoded, "__", "-"), "_", ".")
		if hostname, err := svchost.ForComparison(host); err == nil {
			config.tokens[hostname] = token
		}
	}
	return config, problems
}

// CLIConfigFiles returns the files of the configuration of terraform, as far as they can exist; later ones beat earlier ones.
func CLIConfigFiles(environ []string) []string {
	lookUp := func(name string) string {
		for _, entry := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
	if path := firstSet(lookUp("TF_CLI_CONFIG_FILE"), lookUp("TERRAFORM_CONFIG")); path != "" {
		return []string{path}
	}
	home, main, dir := lookUp("HOME"), ".terraformrc", ".terraform.d"
	if runtime.GOOS == "windows" {
		home, main, dir = lookUp("APPDATA"), "terraform.rc", "terraform.d"
	}
	if home == "" {
		return nil
	}
	files := []string{filepath.Join(home, main)}
	for _, pattern := range []string{"*.tfrc", "*.tfrc.json"} {
		if found, err := filepath.Glob(filepath.Join(home, dir, pattern)); err == nil {
			files = append(files, found...)
		}
	}
	return files
}

var cliConfigSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "credentials", LabelNames: []string{"host"}},
	{Type: "host", LabelNames: []string{"host"}},
}}

func (c *cliConfig) addFile(path string) error {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var file *hcl.File
	var diags hcl.Diagnostics
	if name := filepath.Base(path); strings.HasSuffix(name, ".json") {
		file, diags = safehcl.ParseJSON(src, name)
	} else {
		file, diags = safehcl.ParseConfig(src, name, hcl.InitialPos)
	}
	if diags.HasErrors() {
		return diags
	}
	content, _, diags := file.Body.PartialContent(cliConfigSchema)
	if diags.HasErrors() {
		return diags
	}
	for _, block := range content.Blocks {
		host, err := svchost.ForComparison(block.Labels[0])
		if err != nil {
			return fmt.Errorf("%q is no host name: %w", block.Labels[0], err)
		}
		if err := c.addBlock(host, block); err != nil {
			return err
		}
	}
	return nil
}

func (c *cliConfig) addBlock(host svchost.Hostname, block *hcl.Block) error {
	attrs, diags := block.Body.JustAttributes()
	if diags.HasErrors() {
		return diags
	}
	value := func(name string) cty.Value {
		attr := attrs[name]
		if attr == nil {
			return cty.NilVal
		}
		v, moreDiags := attr.Expr.Value(nil)
		diags = diags.Extend(moreDiags)
		return v
	}
	if block.Type == "credentials" {
		if token := value("token"); isText(token) {
			c.tokens[host] = token.AsString()
		}
	} else if services := value("services"); services != cty.NilVal && services.CanIterateElements() {
		c.services[host] = map[string]string{}
		for name, address := range services.AsValueMap() {
			if isText(address) {
				c.services[host][name] = address.AsString()
			}
		}
	}
	if diags.HasErrors() {
		return diags
	}
	return nil
}

func isText(v cty.Value) bool {
	return v != cty.NilVal && v.Type() == cty.String && v.IsKnown() && !v.IsNull()
}

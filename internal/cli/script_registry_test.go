// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
)

// registryCommand returns the command registry of scripts, which starts a registry that terraform and cairn find as example.com by the CLI configuration. It has
// the providers example.com/foo/bar 1.0.0 and 1.1.0 and example.com/foo/baz 2.0.0 for linux_amd64 and darwin_arm64, whose programs do nothing.
func registryCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		server := registrytest.Start(t)
		for name, versions := range map[string][]string{"bar": {"1.0.0", "1.1.0"}, "baz": {"2.0.0"}} {
			for _, version := range versions {
				archives := map[string][]byte{}
				for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
					archives[platform] = registrytest.Zip(t, registrytest.File{Name: "terraform-provider-" + name + "_v" + version, Content: "#!/bin/sh\n# " + platform + "\n"})
				}
				server.Publish(t, registrytest.Release{Namespace: "foo", Type: name, Version: version, Archives: archives})
			}
		}
		config := filepath.Join(ts.Getenv("WORK"), ".registry.tfrc")
		ts.Check(os.WriteFile(config, fmt.Appendf(nil, "host \"example.com\" {\n  services = { \"providers.v1\" = \"https://%s/providers/\" }\n}\n", server.Host), 0o600))
		ts.Setenv("TF_CLI_CONFIG_FILE", config)
		ts.Setenv("SSL_CERT_FILE", server.CAFile(t))
	}
}

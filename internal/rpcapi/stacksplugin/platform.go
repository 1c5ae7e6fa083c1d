// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacksplugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/registry"
)

// Variables of the environment that say which plugin is run and for which platform.
const (
	OverrideVariable      = "TF_STACKS_PLUGIN_DEV_OVERRIDE"
	hostVariable          = "TF_STACKS_HOSTNAME"
	olderHostVariable     = "TF_CLOUD_HOSTNAME"
	tokenVariable         = "TF_STACKS_TOKEN"
	defaultHost           = "app.terraform.io"
	organizationVariable  = "TF_STACKS_ORGANIZATION_NAME"
	projectVariable       = "TF_STACKS_PROJECT_NAME"
	stackVariable         = "TF_STACKS_STACK_NAME"
	cacheName, binaryName = "stacksplugin", "tfstacks"
)

// Find returns the path of the plugin: the one that the environment names, or else the one that
// terraform has fetched into its cache, which is the given directory or, if that is "", one of the
// user's.
//
// Errors: [fs.ErrNotExist] if there is none.
func Find(env []string, cacheDir string) (string, error) {
	path := environ.Get(env, OverrideVariable)
	if path == "" {
		if cacheDir == "" {
			cacheDir = filepath.Join(cliconfig.Dir(env), cacheName)
		}
		name := binaryName
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		path = filepath.Join(cacheDir, "bin", runtime.GOOS+"_"+runtime.GOARCH, name)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", &fs.PathError{Op: "run", Path: path, Err: errors.New("it is a directory")}
	}
	return path, nil
}

// Platform returns a plugin's metadata about the platform that it works with: its address, a token
// for it, and which stack is meant. They come from the environment, or from the CLI configuration
// of terraform.
func Platform(ctx context.Context, env []string, registries *registry.Client) (map[string]string, error) {
	hosts, err := cliconfig.ReadHosts(env)
	if err != nil {
		return nil, err
	}
	host, err := platformHost(env, hosts)
	if err != nil {
		return nil, err
	}
	token := environ.Get(env, tokenVariable)
	if token == "" {
		if token, err = hosts.Token(ctx, host); err != nil {
			return nil, err
		}
	}
	api, err := registries.Service(ctx, host, registry.Platform)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"tfc-address":          api.Scheme + "://" + api.Host,
		"tfc-base-path":        api.Path,
		"tfc-display-hostname": host.ForDisplay(),
		"tfc-token":            token,
		"tfc-organization":     environ.Get(env, organizationVariable),
		"tfc-project":          environ.Get(env, projectVariable),
		"tfc-stack":            environ.Get(env, stackVariable),
	}, nil
}

func platformHost(env []string, hosts *cliconfig.Hosts) (svchost.Hostname, error) {
	if name := cmp.Or(environ.Get(env, hostVariable), environ.Get(env, olderHostVariable)); name != "" {
		host, err := svchost.ForComparison(name)
		if err != nil {
			return "", fmt.Errorf("%s in %s or %s is not a host name: %w", name, hostVariable, olderHostVariable, err)
		}
		return host, nil
	}
	known := make([]string, 0, len(hosts.Tokens))
	for host := range hosts.Tokens {
		known = append(known, host.ForDisplay())
	}
	slices.Sort(known)
	switch len(known) {
	case 0:
		return svchost.ForComparison(defaultHost)
	case 1:
		return svchost.ForComparison(known[0])
	}
	return "", fmt.Errorf("there are tokens for several hosts (%s); say in %s which one is meant", strings.Join(known, ", "), hostVariable)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Provider is a provider that can be built from Go modules.
type Provider struct {
	Name    string // NAMESPACE/TYPE
	Version string

	module string // to install it from; "" for the one in this repository

	// named is the path by which the module calls itself if that is not where it is, requires are
	// modules with the versions that it needs, and replaces are the replacements of those that it
	// names.
	named    string
	requires []string
	replaces []string
}

// The providers there are.
var (
	Fake = Provider{Name: "cairnstacks/fake", Version: "1.0.0"}
	Time = Provider{Name: "hashicorp/time", Version: "0.14.2", module: "github.com/hashicorp/terraform-provider-time"}
)

// Real are further providers that are real and small, in the last versions that are Go modules.
var Real = []Provider{
	formerly("archive", "1.3.0"),
	formerly("local", "1.4.0"),
	formerly("http", "1.2.0"),
	formerly("null", "1.0.0", oldSDK),
	formerly("random", "2.0.0+incompatible", oldSDK),
	formerly("tls", "1.2.0", oldSDK),
}

// Kubernetes is large: it takes one and a half minutes of processor time to build.
var Kubernetes = Provider{
	Name:    "hashicorp/kubernetes",
	Version: "1.13.4",
	module:  "github.com/hashicorp/terraform-provider-kubernetes",
	named:   "github.com/hashicorp/terraform-provider-kubernetes",
	replaces: []string{
		"github.com/go-openapi/spec => github.com/go-openapi/spec v0.19.5",
		"k8s.io/cli-runtime => k8s.io/cli-runtime v0.19.1",
		"k8s.io/client-go => k8s.io/client-go v0.19.1",
		"vbom.ml/util => github.com/fvbommel/util v0.0.0-20160121211510-db5cfe13f5cc", // where that was
	},
}

// oldSDK is the SDK of providers that name no version of it.
const oldSDK = "github.com/hashicorp/terraform v0.12.29"

// formerly returns a provider whose module has the path of an organization that it has left.
func formerly(name, version string, requires ...string) Provider {
	repository := "terraform-provider-" + name
	return Provider{
		Name: "hashicorp/" + name, Version: version, requires: requires,
		module: "github.com/hashicorp/" + repository, named: "github.com/terraform-providers/" + repository,
	}
}

// fakeSource is the directory of the fake provider's sources below the repository's root.
const fakeSource = "internal/testprovider"

// Hosts returns the registries whose addresses a mirror answers for: the same source address
// belongs to different ones in Terraform and OpenTofu.
func Hosts() []string {
	return []string{"registry.terraform.io", "registry.opentofu.org"}
}

// Mirror returns a directory in the layout of an unpacked filesystem mirror that has at least the
// given providers, under the name of each of [Hosts]. It builds those that are missing.
func (c *Cache) Mirror(ctx context.Context, providers ...Provider) (string, error) {
	key, err := c.mirrorKey()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(c.dir, "mirror", key)
	for _, p := range providers {
		if err := c.addProvider(ctx, dir, p); err != nil {
			return "", err
		}
	}
	return dir, markUsed(dir)
}

// addProvider builds p for the first host and links it for the others.
func (c *Cache) addProvider(ctx context.Context, mirror string, p Provider) error {
	var built string
	for _, host := range Hosts() {
		path := p.path(mirror, host)
		err := c.provide(path, func(out string) error {
			if built != "" {
				return linkOrCopy(built, out)
			}
			c.removeOldMirrors(filepath.Base(mirror))
			fmt.Fprintf(c.log, "building provider %s %s\n", p.Name, p.Version)
			return c.buildProvider(ctx, p, out)
		})
		if err != nil {
			return fmt.Errorf("building provider %s: %w", p.Name, err)
		}
		built = path
	}
	return nil
}

func (c *Cache) buildProvider(ctx context.Context, p Provider, out string) error {
	if p.module == "" {
		return goTool(ctx, c.root, nil, "build", "-trimpath", "-o", out, "./"+fakeSource+"/cmd/terraform-provider-fake")
	}
	if p.named != "" {
		return c.buildRenamed(ctx, p, out)
	}
	bin := filepath.Dir(out)
	if err := goTool(ctx, bin, []string{"GOBIN=" + bin}, "install", p.module+"@v"+p.Version); err != nil {
		return err
	}
	return os.Rename(filepath.Join(bin, exe(filepath.Base(p.module))), out)
}

// buildRenamed builds a provider in a module that knows its former path.
func (c *Cache) buildRenamed(ctx context.Context, p Provider, out string) error {
	dir, err := os.MkdirTemp(filepath.Dir(out), "module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // Nothing depends on it.
	requires := append([]string{p.named + " v1.0.0"}, p.requires...)
	replaces := append([]string{fmt.Sprintf("%s => %s v%s", p.named, p.module, p.Version)}, p.replaces...)
	text := fmt.Sprintf("module provider\n\ngo 1.25\n\nrequire (\n\t%s\n)\n\n"+
		"replace (\n\t%s\n)\n", strings.Join(requires, "\n\t"), strings.Join(replaces, "\n\t"))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		return err
	}
	return goTool(ctx, dir, []string{"GOFLAGS=-mod=mod"}, "build", "-trimpath", "-o", out, p.named)
}

// Release is the version without the suffix that only Go needs.
func (p Provider) Release() string { return strings.TrimSuffix(p.Version, "+incompatible") }

// path returns where Terraform looks for the provider's program.
func (p Provider) path(mirror, host string) string {
	name := fmt.Sprintf("terraform-provider-%s_v%s", p.Name[strings.LastIndex(p.Name, "/")+1:], p.Release())
	return filepath.Join(mirror, host, filepath.FromSlash(p.Name), p.Release(), runtime.GOOS+"_"+runtime.GOARCH, exe(name))
}

// mirrorKey returns a digest of the sources of the providers, apart from the versions in their
// paths.
func (c *Cache) mirrorKey() (string, error) {
	return c.digest(fakeSource, "go.mod", "go.sum")
}

// removeOldMirrors removes mirrors other than the one named that were not used lately.
func (c *Cache) removeOldMirrors(keep string) {
	removeUnused(filepath.Join(c.dir, "mirror"), "", keep)
}

// linkOrCopy makes to the same file as from, or a copy where the file system has no hard links.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o755)
}

// CLIConfig returns the text of a Terraform CLI configuration in which providers come from the
// mirror alone. With an empty path it is empty: no provider can be installed that the engine does
// not find by itself.
func CLIConfig(mirror string) []byte {
	if mirror == "" {
		return nil
	}
	return fmt.Appendf(nil, "provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.ToSlash(mirror))
}

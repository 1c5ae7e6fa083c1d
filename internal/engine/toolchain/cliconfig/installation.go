// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Installation is the settings of the configuration for installing providers.
type Installation struct {
	// Methods are the sources of packages. Explicit says that they are configured; otherwise they are
	// the engine's defaults, and a directory among them that has a provider is the only place for it.
	Methods  []Method
	Explicit bool

	// Overrides are the directories of providers in development, which are not installed.
	Overrides map[stackaddrs.Provider]string

	// CacheDir is a directory in which packages are kept for all configurations, or "". CacheUnlocked
	// allows packages from there of which the lock file has no checksum.
	CacheDir      string
	CacheUnlocked bool

	registry string // of addresses without a host
}

// Method is a place that packages come from: one of the addresses, or the registries that the
// addresses of providers name.
type Method struct {
	Directory string // absolute path of a mirror
	Network   string // address of a mirror

	include, exclude []string // patterns
	registry         string   // of addresses without a host
}

// Allows reports whether a provider may come from there.
func (m *Method) Allows(provider stackaddrs.Provider) bool {
	matches := func(pattern string) bool { return m.matches(pattern, provider) }
	return (len(m.include) == 0 || slices.ContainsFunc(m.include, matches)) && !slices.ContainsFunc(m.exclude, matches)
}

// matches reports whether a pattern stands for a provider: an address, as short as in
// configurations, with * for any part.
func (m *Method) matches(pattern string, provider stackaddrs.Provider) bool {
	parts := strings.Split(pattern, "/")
	defaults := []string{m.registry, "hashicorp"}
	if len(parts) < 3 {
		parts = append(defaults[:3-len(parts):3-len(parts)], parts...)
	}
	for i, part := range []string{provider.Hostname, provider.Namespace, provider.Type} {
		if parts[i] != "*" && !strings.EqualFold(parts[i], part) {
			return false
		}
	}
	return true
}

// ReadInstallation reads the configuration that an engine would read. Relative paths are relative
// to a directory. Addresses of providers are those by which the engine installs them.
func ReadInstallation(env []string, dir, engine string) (*Installation, error) {
	in := &Installation{Overrides: map[stackaddrs.Provider]string{}, registry: string(tfaddr.DefaultProviderRegistryHost)}
	if engine == toolchain.Tofu {
		env, in.registry = ForTofu(env), toolchain.TofuRegistry
	}
	var problems error
	for _, path := range Files(env) {
		if err := in.addFile(path, dir); err != nil {
			problems = errors.Join(problems, fmt.Errorf("the CLI configuration %s cannot be used: %w", path, err))
		}
	}
	if cache := environ.Get(env, CacheVariable); cache != "" {
		in.CacheDir = within(dir, cache)
	}
	if value := environ.Get(env, cacheUnlockedVariable); value != "" && value != "0" {
		in.CacheUnlocked = true
	}
	if !in.Explicit {
		in.Methods = assumed(env, dir)
	}
	return in, problems
}

// cacheUnlockedVariable beats the setting in a file.
const cacheUnlockedVariable = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"

// assumed are the methods of installation without configuration: directories of plugins that are
// there, then the registries.
func assumed(env []string, dir string) []Method {
	dirs := []string{filepath.Join(dir, "terraform.d", "plugins")}
	if config := Dir(env); config != "" {
		dirs = append(dirs, filepath.Join(config, "plugins"))
	}
	for _, data := range dataDirs(env) {
		dirs = append(dirs, filepath.Join(data, "terraform", "plugins"))
	}
	var methods []Method
	for _, one := range dirs {
		if info, err := os.Stat(one); err == nil && info.IsDir() {
			methods = append(methods, Method{Directory: one})
		}
	}
	return append(methods, Method{})
}

// dataDirs are the directories in which systems keep the data of programs.
func dataDirs(env []string) []string {
	var dirs []string
	if home := environ.Get(env, "XDG_DATA_HOME"); home != "" {
		dirs = append(dirs, home)
	} else if home := environ.Get(env, "HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, ".local", "share"))
	}
	if shared := environ.Get(env, "XDG_DATA_DIRS"); shared != "" {
		return append(dirs, filepath.SplitList(shared)...)
	}
	return append(dirs, "/usr/local/share", "/usr/share")
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

var installationSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "plugin_cache_dir"}, {Name: "plugin_cache_may_break_dependency_lock_file"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "provider_installation"}},
}

var methodsSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "filesystem_mirror"}, {Type: "network_mirror"}, {Type: "direct"}, {Type: "dev_overrides"}, {Type: "oci_mirror"},
}}

func (in *Installation) addFile(path, dir string) error {
	file, overrides, err := parseFile(path)
	if err != nil || file == nil {
		return err
	}
	content, _, diags := file.Body.PartialContent(installationSchema)
	if diags.HasErrors() {
		return diags
	}
	if attr := content.Attributes["plugin_cache_dir"]; attr != nil {
		text, err := textOf(attr)
		if err != nil {
			return err
		}
		in.CacheDir = within(dir, os.ExpandEnv(text))
	}
	if attr := content.Attributes["plugin_cache_may_break_dependency_lock_file"]; attr != nil {
		value, diags := attr.Expr.Value(nil)
		if diags.HasErrors() {
			return diags
		}
		in.CacheUnlocked = value.IsKnown() && !value.IsNull() && value.Type() == cty.Bool && value.True()
	}
	for _, block := range content.Blocks {
		if in.Explicit {
			return errors.New("there is more than one block provider_installation")
		}
		in.Explicit = true
		if err := in.addMethods(block.Body, dir); err != nil {
			return err
		}
	}
	return in.addOverrides(overrides, dir)
}

func (in *Installation) addMethods(body hcl.Body, dir string) error {
	content, diags := body.Content(methodsSchema)
	if diags.HasErrors() {
		return diags
	}
	for _, block := range content.Blocks {
		if block.Type == "oci_mirror" { // which tofu has
			return errors.New("providers cannot be installed from an oci_mirror: name a filesystem_mirror, a network_mirror or direct in place of " +
				"it")
		}
		attrs, diags := block.Body.JustAttributes()
		if diags.HasErrors() {
			return diags
		}
		if block.Type == "dev_overrides" {
			overrides, err := texts(attrs)
			if err == nil {
				err = in.addOverrides(overrides, dir)
			}
			if err != nil {
				return err
			}
			continue
		}
		method, err := newMethod(block.Type, attrs, dir)
		if err != nil {
			return err
		}
		method.registry = in.registry
		in.Methods = append(in.Methods, *method)
	}
	return nil
}

func newMethod(kind string, attrs hcl.Attributes, dir string) (method *Method, err error) {
	method = &Method{}
	for name, attr := range attrs {
		switch {
		case name == "include":
			method.include, err = patterns(attr)
		case name == "exclude":
			method.exclude, err = patterns(attr)
		case name == "path" && kind == "filesystem_mirror":
			method.Directory, err = textOf(attr)
			method.Directory = within(dir, method.Directory)
		case name == "url" && kind == "network_mirror":
			method.Network, err = textOf(attr)
		default:
			err = fmt.Errorf("a block %s has no argument %s", kind, name)
		}
		if err != nil {
			return nil, err
		}
	}
	if kind == "filesystem_mirror" && method.Directory == "" || kind == "network_mirror" && method.Network == "" {
		return nil, fmt.Errorf("a block %s does not say where the mirror is", kind)
	}
	return method, nil
}

func (in *Installation) addOverrides(overrides map[string]string, dir string) error {
	for address, path := range overrides {
		provider, err := tfaddr.ParseProviderSource(address)
		if err != nil {
			return fmt.Errorf("dev_overrides: %w", err)
		}
		host := string(provider.Hostname)
		if strings.Count(address, "/") < 2 {
			host = in.registry
		}
		in.Overrides[stackaddrs.Provider{Hostname: host, Namespace: provider.Namespace, Type: provider.Type}] = within(dir, path)
	}
	return nil
}

func textOf(attr *hcl.Attribute) (string, error) {
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return "", diags
	}
	if !isText(value) {
		return "", fmt.Errorf("%s is not a text", attr.Name)
	}
	return value.AsString(), nil
}

func texts(attrs hcl.Attributes) (map[string]string, error) {
	all := make(map[string]string, len(attrs))
	for name, attr := range attrs {
		text, err := textOf(attr)
		if err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, nil
}

func patterns(attr *hcl.Attribute) ([]string, error) {
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return nil, diags
	}
	if value.IsNull() || !value.CanIterateElements() {
		return nil, fmt.Errorf("%s is not a list", attr.Name)
	}
	var all []string
	for it := value.ElementIterator(); it.Next(); {
		_, element := it.Element()
		if !isText(element) || strings.Count(element.AsString(), "/") > 2 {
			return nil, fmt.Errorf("%s has an element that is not the address of providers", attr.Name)
		}
		all = append(all, element.AsString())
	}
	return all, nil
}

// parseFile parses a file of the configuration; it is nil if there is no such file. Blocks
// dev_overrides in native syntax have the addresses of providers for names, which are not such
// names as other blocks have: they are returned, and are missing from the file.
func parseFile(path string) (file *hcl.File, overrides map[string]string, err error) {
	src, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, nil, err
	}
	if !strings.HasSuffix(path, ".json") {
		overrides = cutOverrides(src)
	}
	file, diags := safehcl.ParseFile(src, filepath.Base(path))
	if diags.HasErrors() {
		return nil, nil, diags
	}
	return file, overrides, nil
}

// cutOverrides returns the contents of blocks dev_overrides in native syntax, and puts spaces in
// their place.
func cutOverrides(src []byte) map[string]string {
	overrides := map[string]string{}
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos) //nolint:errcheck // parsing reports them
	for i := 0; i+1 < len(tokens); i++ {
		if tokens[i].Type != hclsyntax.TokenIdent || string(tokens[i].Bytes) != "dev_overrides" || tokens[i+1].Type != hclsyntax.TokenOBrace {
			continue
		}
		end := i + 2
		var quoted []string
		for ; end < len(tokens) && tokens[end].Type != hclsyntax.TokenCBrace && tokens[end].Type != hclsyntax.TokenEOF; end++ {
			if tokens[end].Type == hclsyntax.TokenQuotedLit {
				quoted = append(quoted, string(tokens[end].Bytes))
			}
		}
		if end == len(tokens) || len(quoted)%2 != 0 {
			return overrides // parsing reports it
		}
		for pair := range slices.Chunk(quoted, 2) {
			overrides[pair[0]] = pair[1]
		}
		for at := tokens[i+1].Range.End.Byte; at < tokens[end].Range.Start.Byte; at++ {
			if src[at] != '\n' {
				src[at] = ' '
			}
		}
		i = end
	}
	return overrides
}

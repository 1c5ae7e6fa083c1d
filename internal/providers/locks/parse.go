// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package locks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// maxFile is far more than the locks of all providers that there are.
const maxFile = 16 << 20

// Read reads a lock file. With errors, there are no locks.
func Read(path string) (*Locks, hcl.Diagnostics) {
	unreadable := func(format string, args ...any) hcl.Diagnostics {
		diag := failure.New("Unreadable lock file", "The lock file %s cannot be read: %s.", path, fmt.Sprintf(format, args...))
		diag.Subject = &hcl.Range{Filename: path, Start: hcl.InitialPos, End: hcl.InitialPos}
		return hcl.Diagnostics{diag}
	}
	src, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxFile)
	switch {
	case err != nil:
		return nil, unreadable("%s", safefile.Reason(err))
	case len(src) > maxFile:
		return nil, unreadable("it is larger than %d MiB", maxFile>>20)
	}
	return Parse(src, path)
}

var (
	fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "provider", LabelNames: []string{"source_addr"}},
		{Type: "module", LabelNames: []string{"path"}},
	}}
	providerSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "version", Required: true},
		{Name: "constraints"},
		{Name: "hashes"},
	}}
)

// Parse parses the text of a lock file. With errors, there are no locks.
func Parse(src []byte, filename string) (*Locks, hcl.Diagnostics) {
	file, diags := safehcl.ParseConfig(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	content, moreDiags := file.Body.Content(fileSchema)
	diags = diags.Extend(moreDiags)
	parser := &parser{blocks: map[stackaddrs.Provider]*hcl.Block{}}
	for _, block := range content.Blocks {
		if block.Type == "module" {
			diags = diags.Append(failure.WarningAt(block.TypeRange, "Locks of modules ignored",
				"A lock file has locks of providers. This block was written by an unknown version, and is ignored."))
			continue
		}
		diags = diags.Extend(parser.provider(block))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return &parser.locks, diags
}

// parser collects the locks of a file.
type parser struct {
	locks  Locks
	blocks map[stackaddrs.Provider]*hcl.Block // of the providers until now
}

func (p *parser) provider(block *hcl.Block) hcl.Diagnostics {
	provider, problem := ParseProvider(block.Labels[0])
	if problem != nil {
		return hcl.Diagnostics{failure.At(block.LabelRanges[0], "Invalid provider address", "%s.", failure.Capitalize(problem.Error()))}
	}
	if first := p.blocks[provider]; first != nil {
		return hcl.Diagnostics{failure.At(block.LabelRanges[0], "Duplicate provider lock",
			"There is a lock for %s at %s already. Remove one of them.", provider, first.DefRange)}
	}
	p.blocks[provider] = block
	content, diags := block.Body.Content(providerSchema)
	lock := Lock{Provider: provider}
	if attr := content.Attributes["version"]; attr != nil {
		diags = diags.Extend(lock.decodeVersion(attr))
	}
	if attr := content.Attributes["constraints"]; attr != nil {
		diags = diags.Extend(lock.decodeConstraints(attr))
	}
	if attr := content.Attributes["hashes"]; attr != nil {
		diags = diags.Extend(lock.decodeHashes(attr))
	}
	p.locks.Set(lock)
	return diags
}

// ParseProvider parses the address of a provider in the only form that lock files have: with the
// host and the namespace.
func ParseProvider(text string) (stackaddrs.Provider, error) {
	provider, err := release.ParseProvider(text)
	switch {
	case err != nil:
		return provider, err
	case provider.IsBuiltin():
		return provider, fmt.Errorf("the provider %s is built in, and has no version that could be locked", provider)
	case provider.String() != text:
		return provider, fmt.Errorf("the provider %q has to be written %q in a lock file", text, provider)
	default:
		return provider, nil
	}
}

// text returns the value of an attribute that is text, or converts to it.
func text(expr hcl.Expression) (string, hcl.Diagnostics) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		return "", diags
	}
	value, err := toText(value)
	if err != nil {
		return "", hcl.Diagnostics{failure.At(expr.Range(), "Invalid value", "Text is expected here: %s.", err)}
	}
	return value.AsString(), diags
}

func (l *Lock) decodeVersion(attr *hcl.Attribute) hcl.Diagnostics {
	written, diags := text(attr.Expr)
	if diags.HasErrors() {
		return diags
	}
	version, err := release.ParseVersion(written)
	if err == nil && version.String() != written {
		err = fmt.Errorf("the version %q has to be written %q in a lock file", written, version)
	}
	if err != nil {
		return diags.Append(failure.At(attr.Expr.Range(), "Invalid provider version", "In the lock of %s: %s.", l.Provider, err))
	}
	l.Version = version
	return diags
}

func (l *Lock) decodeConstraints(attr *hcl.Attribute) hcl.Diagnostics {
	written, diags := text(attr.Expr)
	if diags.HasErrors() {
		return diags
	}
	normal, err := NormalizeConstraints(written)
	if err == nil && normal != written {
		err = fmt.Errorf("the constraints %q have to be written %q in a lock file", written, normal)
	}
	if err != nil {
		return diags.Append(failure.At(attr.Expr.Range(), "Invalid version constraint", "In the lock of %s: %s.", l.Provider, err))
	}
	l.Constraints = normal
	return diags
}

func (l *Lock) decodeHashes(attr *hcl.Attribute) hcl.Diagnostics {
	elements, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		return diags
	}
	if len(elements) == 0 {
		return diags.Append(failure.At(attr.Expr.Range(), "Empty list of hashes",
			"In the lock of %s: leave the argument out if no hashes are known.", l.Provider))
	}
	for _, element := range elements {
		written, moreDiags := text(element)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			continue
		}
		hash, err := release.ParseHash(written)
		if err != nil {
			diags = diags.Append(failure.At(element.Range(), "Invalid hash", "In the lock of %s: %s.", l.Provider, err))
			continue
		}
		l.Hashes = append(l.Hashes, hash)
	}
	return diags
}

func toText(value cty.Value) (cty.Value, error) {
	converted, err := convert.Convert(value, cty.String)
	switch {
	case err != nil:
		return value, err
	case converted.IsNull() || !converted.IsKnown():
		return value, errors.New("it is null")
	default:
		return converted, nil
	}
}

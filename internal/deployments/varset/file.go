// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// maxSize is how large a file of values may be, in bytes.
const maxSize = 1 << 20

// path returns one that is relative to the stack as one that is not.
func (o *opened) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.dir, path)
}

// readFile reads a file of limited size, and returns its permissions.
func (o *opened) readFile(name string) ([]byte, fs.FileMode, error) {
	path := o.path(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	content, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxSize)
	return content, info.Mode(), err
}

// formats are those of files, by the endings of their names.
var formats = map[string]format{
	".hcl": formatHCL, ".tfvars": formatHCL, ".json": formatJSON, ".env": formatEnv, ".yaml": formatYAML, ".yml": formatYAML,
}

// formatOf returns the format of a file, and an empty one if that is not known.
func (r *reader) formatOf() format {
	if r.block.Format != "" {
		return format(r.block.Format)
	}
	return formats[filepath.Ext(strings.TrimSuffix(r.block.File, ageEnding))]
}

// fromFile reads a file, which may be encrypted.
func (r *reader) fromFile(ctx context.Context) (map[string]cty.Value, error) {
	name := r.block.File
	written := r.formatOf()
	if written == "" {
		return nil, r.fail("Unknown format of values",
			"The name of the file %s does not say which format its values have. Call it .hcl, .tfvars, .json, .yaml or .env, "+
				"with .age after that if it is encrypted so, or set format.", name)
	}
	content, mode, err := r.readFile(name)
	switch {
	case err != nil:
		return nil, r.fail("Unreadable variable set", "The values of the set %q are to be in the file %s: %s.",
			r.block.Name, name, safefile.Reason(err))
	case len(content) > maxSize:
		return nil, r.fail("Variable set too large", "The file %s has more than %d bytes. Is it the right one?", name, maxSize)
	}
	values, encrypted, err := r.decrypted(ctx, content, written)
	if err != nil {
		return nil, err
	}
	if !encrypted && !r.block.SharedFile && runtime.GOOS != "windows" &&
		mode.Perm()&0o044 != 0 && (r.block.Sensitive || len(r.block.SensitiveNames) > 0) {
		r.warnings.Add(failure.WarningAt(r.block.Range, "Secrets readable by others",
			"Others on this machine may read the file %s, which has sensitive values and is not encrypted. Take that from them with chmod 600, "+
				"encrypt it, or set shared = true if nobody else is there.", name))
	}
	return values, nil
}

// decrypted reads values from a file that may be encrypted, and reports whether it is.
func (r *reader) decrypted(ctx context.Context, content []byte, written format) (values map[string]cty.Value, encrypted bool, err error) {
	from := "the file " + r.block.File
	parse := func(content []byte, written format) (map[string]cty.Value, error) {
		values, err := parse(content, written)
		if err != nil {
			return nil, r.fail("Unusable variable set", "The values of the set %q cannot be read from %s: %s.", r.block.Name, from, err)
		}
		return values, nil
	}
	isAge := isAgeEncrypted(content)
	switch {
	case !isAge && strings.HasSuffix(r.block.File, ageEnding):
		return nil, false, r.fail("Unusable variable set", "The file %s is not encrypted with age, as its name says. Encrypt it, or rename it.",
			r.block.File)
	case isAge:
		if content, err = r.fromAge(content); err != nil {
			return nil, true, err
		}
		values, err = parse(content, written)
		return values, true, err
	case isSopsEncrypted(content, written):
		if content, err = r.fromSops(ctx, written); err != nil {
			return nil, true, err
		}
		values, err = parse(content, formatJSON)
		return values, true, err
	}
	values, err = parse(content, written)
	return values, false, err
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// path returns one that is relative to the stack as one that is not.
func (p *place) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.dir, path)
}

func (p *place) variable(name string) string { return environ.Get(p.environ, name) }

// read reads a small file, and returns its permissions.
func (p *place) read(name string, limit int) ([]byte, fs.FileMode, error) {
	path := p.path(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	content, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), limit)
	return content, info.Mode(), err
}

// fromFile reads a token that something else renews. The file is read each time: its token lasts
// for minutes.
func (r *request) fromFile() (string, error) {
	content, mode, err := r.read(r.block.Path, maxToken)
	switch {
	case err != nil:
		return "", r.fail("Unreadable identity token",
			"The token %q is to come from the file %s: %s. Something else has to write it before the run, and to renew it.",
			r.label, r.block.Path, safefile.Reason(err))
	case len(content) > maxToken:
		return "", r.fail("Unusable identity token", "The file %s has more than %d bytes, which no token has.", r.block.Path, maxToken)
	case readableByOthers(uint32(mode), 0o022):
		return "", r.fail("File writable by others", "Others on this machine may write to the file %s, and so choose as whom the run logs in. "+
			"Take that from them: chmod go-w %[1]s", r.block.Path)
	case readableByOthers(uint32(mode), 0o044) && !r.block.SharedFile:
		r.warn(&hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Token readable by others",
			Detail: "Others on this machine may read the token in the file " + r.block.Path +
				", and log in with it. Take that from them, or set shared = true " +
				"if nobody else is there.",
			Subject: r.at,
		})
	}
	return r.checked(string(content), "the file "+r.block.Path, "Whatever renews it has not done so since: look there.")
}

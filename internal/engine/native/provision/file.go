// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
)

// contentName is the name of a file without one, in a directory.
const contentName = "tmp-file-content"

// file copies a file or a directory to another machine.
func (r *Runner) file(ctx context.Context, w *work) hcl.Diagnostics {
	source, content := w.args.GetAttr("source"), w.args.GetAttr("content")
	if source.IsNull() == content.IsNull() {
		return w.failed("One of the arguments source and content is to be set, and only one.")
	}
	c, diags := r.connection(ctx, w)
	if diags.HasErrors() {
		return diags
	}
	destination := w.args.text("destination")
	if c.windows {
		destination = strings.ReplaceAll(destination, `\`, "/")
	}
	return append(diags, c.use(ctx, w, func(m *remote.Machine) hcl.Diagnostics {
		var err error
		if source.IsNull() {
			text := content.AsString()
			err = c.copyFile(ctx, m, remote.File{Name: contentName, Size: int64(len(text)), Content: strings.NewReader(text)}, destination, 0o644)
		} else {
			err = c.copySource(ctx, m, r.fileOf(source.AsString()), strings.HasSuffix(filepath.ToSlash(source.AsString()), "/"), destination)
		}
		switch {
		case err == nil:
			return nil
		case w.args.hidden:
			return w.failed("The copy has failed. The cause is not shown, since the provisioner has sensitive or ephemeral arguments.")
		default:
			return w.failed(c.withoutSecrets(fmt.Sprintf("The copy to %q on %s has failed: %s.", destination, c.name(), err)))
		}
	})...)
}

// copySource copies a file or a directory of this machine.
func (c *connection) copySource(ctx context.Context, m *remote.Machine, source string, contentOnly bool, destination string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if contentOnly {
			destination += "/." // which must be there
		}
		return m.CopyTree(ctx, "scp -r -t "+c.word(destination), source, contentOnly)
	}
	opened, err := remote.Open(source, filepath.Base(source))
	if err != nil {
		return err
	}
	defer opened.Close()
	return c.copyFile(ctx, m, opened.File, destination, 0o644)
}

// copyFile copies a file to a path on the machine. In a path that ends as that of a directory, the
// file has its own name.
func (c *connection) copyFile(ctx context.Context, m *remote.Machine, f remote.File, destination string, mode fs.FileMode) error {
	dir, name := path.Split(destination)
	if name == "" {
		name = f.Name
	}
	f.Name, f.Mode = name, mode
	return m.CopyFile(ctx, "scp -t "+c.word(dir+"."), f) // with the dot, the directory must be there
}

// word returns a path as a word for the shell of the machine.
func (c *connection) word(written string) string {
	if strings.HasPrefix(written, "-") {
		written = "./" + written
	}
	if c.windows {
		return cmdWord(written)
	}
	return shellWord(written)
}

func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func cmdWord(text string) string { return `"` + strings.ReplaceAll(text, `"`, "") + `"` }

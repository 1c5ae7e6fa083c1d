// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// formatter is one run of the fmt command.
type formatter struct {
	*session.Session
	list, write, diff, check, recursive bool

	changed bool // something was not, or is not, as it should be
}

// FormatCommand returns the command that formats stack files.
func FormatCommand() *session.Command {
	var o formatter
	return &session.Command{
		Name:    "fmt",
		Args:    "[FILE|DIR|-]...",
		Summary: "Brings stack files into the canonical format.",
		Long: `
Formats the files *.tfcomponent.hcl (formerly *.tfstack.hcl) and *.tfdeploy.hcl in the current directory, or those that
are named; - stands for standard input, whose formatted text goes to standard output. Lists the files that change.`,
		Example: "cairn fmt -recursive\ncairn fmt -check -diff",
		MaxArgs: 1 << 20,
		Flags: func(f *session.Flags) {
			f.BoolVar(&o.list, "list", true, "`false` does not list files that change")
			f.BoolVar(&o.write, "write", true, "`false` does not change files")
			f.BoolVar(&o.diff, "diff", false, "show the changes")
			f.BoolVar(&o.check, "check", false, "change no files, and exit with 1 if there are some to change")
			f.BoolVar(&o.recursive, "recursive", false, "go into subdirectories, too")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			o.Session = s
			if len(args) == 0 {
				args = []string{"."}
			}
			var diags hcl.Diagnostics
			for _, target := range args {
				diags = diags.Extend(o.target(target))
			}
			status, err := s.Finish(diags)
			if err == nil && status == cmdline.ExitOK && o.check && o.changed {
				status = cmdline.ExitError
			}
			return status, err
		},
	}
}

// isStackFile reports whether a file is one that is formatted when its directory is.
func isStackFile(name string) bool {
	return strings.HasSuffix(name, ".tfcomponent.hcl") || strings.HasSuffix(name, ".tfstack.hcl") || strings.HasSuffix(name, ".tfdeploy.hcl")
}

func (o *formatter) target(target string) hcl.Diagnostics {
	if target == "-" {
		return o.standardInput()
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hcl.Diagnostics{failure.New("File not found", "There is no file or directory %s.", target)}
	case err != nil:
		return hcl.Diagnostics{failure.New("Unreadable file", "%s.", failure.Capitalize(failure.Reason(err)))}
	case info.IsDir():
		return o.directory(target)
	case !isStackFile(target) && filepath.Ext(target) != ".hcl":
		return hcl.Diagnostics{failure.New("Not a stack file",
			"Only files in HCL's native syntax are formatted: %s must end in .tfcomponent.hcl, .tfdeploy.hcl or .hcl.", target)}
	}
	return o.file(target)
}

func (o *formatter) standardInput() hcl.Diagnostics {
	src, err := io.ReadAll(o.Streams.In)
	if err != nil {
		return operation.Diagnostics(err)
	}
	formatted, diags := o.format(src, "standard input")
	if diags.HasErrors() {
		return diags
	}
	different := !bytes.Equal(src, formatted)
	o.changed = o.changed || different
	switch {
	case o.diff && different:
		o.Print("%s", diff.Diff("old/standard input", src, "new/standard input", formatted))
	case !o.check && !o.diff:
		o.Print("%s", formatted)
	}
	return diags
}

func (o *formatter) directory(dir string) hcl.Diagnostics {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return hcl.Diagnostics{failure.New("Unreadable directory", "%s.", failure.Capitalize(failure.Reason(err)))}
	}
	var diags hcl.Diagnostics
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && o.recursive && !strings.HasPrefix(entry.Name(), "."):
			diags = diags.Extend(o.directory(path))
		case !entry.IsDir() && isStackFile(entry.Name()) && !strings.HasPrefix(entry.Name(), "."):
			diags = diags.Extend(o.file(path))
		}
	}
	return diags
}

func (o *formatter) file(path string) hcl.Diagnostics {
	src, err := os.ReadFile(path)
	if err != nil {
		return hcl.Diagnostics{failure.New("Unreadable file", "%s.", failure.Capitalize(failure.Reason(err)))}
	}
	formatted, diags := o.format(src, filepath.ToSlash(path))
	if diags.HasErrors() || bytes.Equal(src, formatted) {
		return diags
	}
	o.changed = true
	if o.list || o.check {
		o.Print("%s\n", path)
	}
	if o.diff {
		o.Print("%s", diff.Diff("old/"+filepath.ToSlash(path), src, "new/"+filepath.ToSlash(path), formatted))
	}
	if !o.write || o.check {
		return diags
	}
	if err := replaceFile(path, formatted); err != nil {
		return diags.Append(failure.New("File not written", "%s.", failure.Capitalize(failure.Reason(err))))
	}
	return diags
}

// format returns the canonical form of a file. Files with syntax errors have none.
func (o *formatter) format(src []byte, name string) ([]byte, hcl.Diagnostics) {
	formatted, file, diags := safehcl.Format(src, name)
	if file != nil {
		o.Files[name] = file
	}
	return formatted, diags
}

// replaceFile replaces the content of a file as a whole. Its mode stays, and a symbolic link stays
// one.
func replaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return safefile.Replace(path, content, info.Mode().Perm())
}

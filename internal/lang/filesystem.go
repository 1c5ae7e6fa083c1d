// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/safefile"
)

var pathParameter = function.Parameter{Name: "path", Type: cty.String, AllowMarked: true}

func fileFunctions(opts Options) map[string]function.Function {
	return map[string]function.Function{
		"abspath":          absPathFunction(opts.BaseDir),
		"file":             readFunction(opts, "Reads a file as a string.", textOf),
		"filebase64":       readFunction(opts, "Reads a file and encodes it in Base64.", base64Of),
		"filebase64sha256": hashFunction(opts, sha256.New, base64.StdEncoding.EncodeToString),
		"filebase64sha512": hashFunction(opts, sha512.New, base64.StdEncoding.EncodeToString),
		"fileexists":       fileExistsFunction(opts),
		"filemd5":          hashFunction(opts, md5.New, hex.EncodeToString),
		"fileset":          fileSetFunction(opts),
		"filesha1":         hashFunction(opts, sha1.New, hex.EncodeToString),
		"filesha256":       hashFunction(opts, sha256.New, hex.EncodeToString),
		"filesha512":       hashFunction(opts, sha512.New, hex.EncodeToString),
	}
}

// readingNames are the functions whose results depend on the content of files.
var readingNames = []string{
	"file", "filebase64", "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "fileset", "filesha1",
	"filesha256", "filesha512", "templatefile",
}

// The largest files that functions read. A value can hold the first in Base64; a hash is made piece
// by piece.
const (
	maxFile   = 64 << 20
	maxHashed = 16 << 30
)

// errNotShown says that a hash takes too long where files are edited, and remains unknown.
var errNotShown = errors.New("the file is too large to be read while it is edited")

// A file is the target of a path argument of a function.
type file struct {
	location string         // where to find it from here
	name     string         // as the argument has it, quoted, or a note if the argument is marked
	marks    cty.ValueMarks // of the argument
	outside  bool           // of the directories to stay in
}

func fileAt(opts Options, arg cty.Value) (file, error) {
	path, own := arg.Unmark()
	location, err := expandHome(path.AsString())
	if err != nil {
		return file{}, function.NewArgErrorf(0, "cannot expand ~: %w", err)
	}
	if !filepath.IsAbs(location) {
		location = filepath.Join(opts.BaseDir, location)
	}
	location = filepath.Clean(location)
	return file{location: location, name: quoted(path.AsString(), own), marks: own, outside: !opts.contain(location)}, nil
}

// contain reports whether a location is in the directories to stay in, wherever links lead.
func (o Options) contain(location string) bool {
	if o.Within == nil {
		return true
	}
	if real, err := filepath.EvalSymlinks(location); err == nil {
		location = real
	}
	return slices.ContainsFunc(o.Within, func(dir string) bool {
		relative, err := filepath.Rel(dir, location)
		return err == nil && filepath.IsLocal(relative)
	})
}

// expandHome replaces a ~ that is the whole first element of a path by the user's home directory.
func expandHome(path string) (string, error) {
	if !strings.HasPrefix(path, "~") {
		return path, nil
	}
	if len(path) > 1 && path[1] != '/' && path[1] != filepath.Separator {
		return "", errors.New("only one's own home directory is supported")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, path[1:]), nil
}

// problem turns an error of the operating system, which quotes the path, into one that keeps rule
// L3.
func (f file) problem(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return function.NewArgErrorf(0,
			"no file exists at %s; files must be there before the run starts, "+
				"so take the content of a file that a resource produces from an attribute of the resource", f.name)
	}
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	return function.NewArgErrorf(0, "cannot read %s: %w", f.name, err)
}

func (f file) read() ([]byte, error) {
	content, err := safefile.Read(safefile.OS{}, f.location, maxFile)
	switch {
	case err != nil:
		return nil, f.problem(err)
	case len(content) > maxFile:
		return nil, function.NewArgErrorf(0,
			"%s has more than %d MiB, the most that is read of a file; give the path to the consumer of the content, or "+
				"a hash of it", f.name, maxFile>>20)
	}
	return content, nil
}

func (f file) readText() (string, error) {
	content, err := f.read()
	if err != nil {
		return "", err
	}
	return textOf(f, content)
}

func textOf(f file, content []byte) (string, error) {
	if !utf8.Valid(content) {
		return "", function.NewArgErrorf(0,
			"the content of %s is not UTF-8; filebase64 reads any content, and filesha256 and its like hash it", f.name)
	}
	return string(content), nil
}

func base64Of(_ file, content []byte) (string, error) {
	return base64.StdEncoding.EncodeToString(content), nil
}

func readFunction(opts Options, description string, express func(file, []byte) (string, error)) function.Function {
	return pathFunction(opts, description, func(f file) (string, error) {
		content, err := f.read()
		if err != nil {
			return "", err
		}
		return express(f, content)
	})
}

// hashFunction makes a function that reads the file piece by piece, whatever its size.
func hashFunction(opts Options, algorithm func() hash.Hash, encode func([]byte) string) function.Function {
	return pathFunction(opts, "Returns a hash of the content of a file.", func(f file) (string, error) {
		opened, err := safefile.Open(safefile.OS{}, f.location)
		if err != nil {
			return "", f.problem(err)
		}
		defer opened.Close() //nolint:errcheck // nothing was written

		limit := int64(maxHashed)
		if opts.Within != nil {
			limit = maxFile
		}
		sum := algorithm()
		read, err := io.Copy(sum, io.LimitReader(opened, limit+1))
		switch {
		case err != nil:
			return "", f.problem(err)
		case read > limit && opts.Within != nil:
			return "", errNotShown
		case read > limit:
			return "", function.NewArgErrorf(0, "%s has more than %d GiB, the most that is read of a file", f.name, maxHashed>>30)
		}
		return encode(sum.Sum(nil)), nil
	})
}

// pathFunction makes a function from a path to a string.
func pathFunction(opts Options, description string, result func(file) (string, error)) function.Function {
	return functionOf(cty.String, description, []function.Parameter{pathParameter},
		func(args []cty.Value) (cty.Value, error) {
			f, err := fileAt(opts, args[0])
			if err != nil {
				return cty.NilVal, err
			}
			if f.outside {
				return cty.UnknownVal(cty.String).WithMarks(f.marks), nil
			}
			text, err := result(f)
			switch {
			case errors.Is(err, errNotShown):
				return cty.UnknownVal(cty.String).WithMarks(f.marks), nil
			case err != nil:
				return cty.NilVal, err
			}
			return cty.StringVal(text).WithMarks(f.marks), nil
		})
}

func fileExistsFunction(opts Options) function.Function {
	return functionOf(cty.Bool, "Reports whether a regular file exists. Other things at the path are an error.",
		[]function.Parameter{pathParameter},
		func(args []cty.Value) (cty.Value, error) {
			f, err := fileAt(opts, args[0])
			if err != nil {
				return cty.NilVal, err
			}
			if f.outside {
				return cty.UnknownVal(cty.Bool).WithMarks(f.marks), nil
			}
			info, err := os.Stat(f.location)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return cty.False.WithMarks(f.marks), nil
			case err != nil:
				return cty.NilVal, f.problem(err)
			case info.IsDir():
				return cty.NilVal, function.NewArgErrorf(0, "%s is a directory, not a file", f.name)
			case !info.Mode().IsRegular():
				return cty.NilVal, function.NewArgErrorf(0, "%s is not a regular file but of type %s", f.name, info.Mode().Type())
			}
			return cty.True.WithMarks(f.marks), nil
		})
}

func fileSetFunction(opts Options) function.Function {
	return functionOf(cty.Set(cty.String), "Lists the regular files below a directory whose names match a pattern.",
		[]function.Parameter{pathParameter, {Name: "pattern", Type: cty.String, AllowMarked: true}},
		func(args []cty.Value) (cty.Value, error) {
			path, pathMarks := args[0].Unmark()
			pattern, patternMarks := args[1].Unmark()
			own := cty.NewValueMarks(pathMarks, patternMarks)

			search := &search{left: maxSearched}
			if opts.Within != nil {
				search.left = maxSearchedShown
				below, err := fileAt(opts, path)
				if err != nil || below.outside || !opts.contain(filepath.Join(below.location, pattern.AsString())) {
					return cty.UnknownVal(cty.Set(cty.String)).WithMarks(own), err
				}
			}
			found, err := search.files(opts.BaseDir, path.AsString(), pattern.AsString())
			switch {
			case errors.Is(err, errTooManyFiles) && opts.Within != nil:
				return cty.UnknownVal(cty.Set(cty.String)).WithMarks(own), nil
			case err != nil:
				return cty.NilVal, fmt.Errorf("cannot list the files that match %s below %s: %w",
					quoted(pattern.AsString(), own), quoted(path.AsString(), own), withoutPaths(err, own))
			}
			return found.WithMarks(own), nil
		})
}

// How many files and directories a function looks at, at most: most real trees have fewer, but not
// a whole machine, or one in which links lead back. Where files are edited, the rest is not known.
const (
	maxSearched      = 1 << 20
	maxSearchedShown = 1 << 14
)

var errTooManyFiles = fmt.Errorf(
	"more than %d files and directories would be looked at; give a directory further down, or a pattern that names more of the "+
		"directories in place of **", maxSearched)

// search is a search for files. It is the file system of package doublestar, which takes errors for
// files that are not there, and so comes to an end when nothing is left.
type search struct {
	left int // files and directories to be looked at
}

var _ doublestar.OS = (*search)(nil)

// files returns the regular files below a directory whose names match a pattern: a set of relative
// names with slashes.
func (s *search) files(baseDir, path, pattern string) (cty.Value, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(baseDir, path)
	}
	matches, err := doublestar.GlobOS(s, filepath.Join(path, pattern))
	switch {
	case s.left < 0:
		return cty.NilVal, errTooManyFiles
	case err != nil:
		return cty.NilVal, err
	}
	var names []cty.Value
	for _, match := range matches {
		info, err := os.Stat(match)
		if err != nil {
			return cty.NilVal, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		name, err := filepath.Rel(path, match)
		if err != nil {
			return cty.NilVal, err
		}
		names = append(names, cty.StringVal(filepath.ToSlash(name)))
	}
	if len(names) == 0 {
		return cty.SetValEmpty(cty.String), nil
	}
	return cty.SetVal(names), nil
}

// Lstat implements [doublestar.OS].
func (s *search) Lstat(name string) (os.FileInfo, error) {
	if s.left < 0 {
		return nil, errTooManyFiles
	}
	return os.Lstat(name)
}

// Stat implements [doublestar.OS].
func (s *search) Stat(name string) (os.FileInfo, error) {
	if s.left < 0 {
		return nil, errTooManyFiles
	}
	return os.Stat(name)
}

// Open implements [doublestar.OS]. Only directories are opened.
func (s *search) Open(name string) (*os.File, error) {
	if s.left < 0 {
		return nil, errTooManyFiles
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	for s.left--; s.left >= 0; {
		names, err := dir.Readdirnames(1 << 10)
		s.left -= len(names)
		if err != nil {
			break // the end, or an error that will be found again
		}
	}
	if _, err := dir.Seek(0, io.SeekStart); err != nil || s.left < 0 {
		_ = dir.Close() //nolint:errcheck // nothing was written
		return nil, errors.Join(err, errTooManyFiles)
	}
	return dir, nil
}

// PathSeparator implements [doublestar.OS].
func (s *search) PathSeparator() rune { return filepath.Separator }

// withoutPaths keeps an error whose text quotes marked paths out of messages (rule L3).
func withoutPaths(err error, own cty.ValueMarks) error {
	if len(own) > 0 {
		return errors.New("the details are hidden because the path or the pattern is")
	}
	return err
}

func absPathFunction(baseDir string) function.Function {
	return functionOf(cty.String, "Makes a path absolute.", []function.Parameter{{Name: "path", Type: cty.String}},
		func(args []cty.Value) (cty.Value, error) {
			path := args[0].AsString()
			if !filepath.IsAbs(path) {
				path = filepath.Join(baseDir, path)
			}
			absolute, err := filepath.Abs(path)
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(filepath.ToSlash(absolute)), nil
		})
}

var pathExpandFunction = functionOf(cty.String, "Replaces a leading ~ by the user's home directory.",
	[]function.Parameter{{Name: "path", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		expanded, err := expandHome(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "cannot expand ~: %w", err)
		}
		return cty.StringVal(expanded), nil
	})

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Resolver finds the directories of sources that are not local. Such sources lead into packages: a
// commit of a repository, an unpacked archive.
type Resolver interface {
	// Resolve returns the directory of a source. For registry sources, version is
	// the constraint as written.
	//
	// Errors: [ErrNotPrepared] in the chain if the package would have to be fetched
	// first; else why the source cannot be used, in words for users.
	Resolve(source sourceaddrs.Source, version string) (Resolved, error)

	// Locate returns the package that an absolute path lies in.
	Locate(path string) (place Place, ok bool)
}

// Resolved is where a source leads to.
type Resolved struct {
	Dir     string // absolute; need not exist
	Version string // selected version of a registry source
}

// Place is a path as part of a package.
type Place struct {
	Package string // absolute directory of the package
	Address string // source address of the path, which names it in diagnostics
}

// ErrNotPrepared means that a source is not among the prepared packages.
var ErrNotPrepared = errors.New("it has not been fetched")

// LoadOptions are the parameters of [LoadWith].
type LoadOptions struct {
	// Resolver finds sources that are not local. Without one they are errors.
	Resolver Resolver

	// Buffers are texts that stand for files, by their absolute paths, in which no symbolic link leads
	// to the directory. The files need not be there.
	Buffers map[string][]byte

	// Parse is called in place of [ParseFile], with the path of the file besides, for a caller that
	// has parsed files before. Its result is not changed. Nil parses.
	Parse func(path, name string, src []byte) (*hcl.File, hcl.Diagnostics)

	// FilesWithin are the directories, absolute and without links, that functions such as file read
	// files in, as for an editor that shows an untrusted stack. The content of others is unknown.
	// Nil stands for all directories.
	FilesWithin []string
}

// LoadWith is [Load] with options.
func LoadWith(dir string, opts LoadOptions) (*Config, hcl.Diagnostics) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDiagnostic(dir, err)}
	}
	return loadWith(withBuffers(osFileSystem{}, opts.Buffers), abs, opts)
}

var (
	sshUser    = regexp.MustCompile(`^git::ssh://([^/@:?]+)@`)
	scpAddress = regexp.MustCompile(`^(?:git::)?([A-Za-z0-9_.-]+)@([A-Za-z0-9.-]+):([^/:].*)$`)
)

// ParseSource parses a source address as it is written.
//
// As an addition to the language, a repository reached through ssh may have a user name, as most
// hosts demand: git::ssh://git@example.com/x.git, or shorter git@example.com:x.git.
func ParseSource(written string) (sourceaddrs.Source, error) {
	full := written
	if match := scpAddress.FindStringSubmatch(written); match != nil {
		full = fmt.Sprintf("git::ssh://%s@%s/%s", match[1], match[2], match[3])
	}
	user := sshUser.FindStringSubmatch(full)
	if user == nil {
		addr, err := sourceaddrs.ParseSource(written)
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the repetition of the address
		}
		return addr, err
	}
	anonymous, err := sourceaddrs.ParseRemoteSource(strings.Replace(full, user[1]+"@", "", 1))
	if err != nil {
		return nil, err
	}
	location := *anonymous.Package().URL()
	location.User = url.User(user[1])
	return sourceaddrs.MakeRemoteSource("git", &location, anonymous.SubPath())
}

// ErrLocked means that the content of a source differs from its lock. Locking it anew would help.
var ErrLocked = fault.Error(errors.New("it differs from its lock"), fault.SourceLocked)

// SourceProblem describes why a source cannot be used in a block at a place; from names the block's
// owner: "this stack".
func SourceProblem(written, from string, place hcl.Range, err error) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: &place, Extra: fault.OfError(err)}
	if errors.Is(err, ErrNotPrepared) {
		diag.Summary = "Source not available"
		diag.Detail = fmt.Sprintf("The source %s is not part of the prepared source packages: %s.", written, err)
		return diag
	}
	diag.Summary, diag.Detail = "Source cannot be used here", fmt.Sprintf("%s cannot be resolved from %s: %s.", written, from, err)
	return diag
}

// LeadsOut returns an error if a path, reached by a relative source from a
// directory, lies outside of the package of the directory.
func LeadsOut(resolver Resolver, from, path string) error {
	if resolver == nil {
		return nil
	}
	place, ok := resolver.Locate(from)
	if !ok {
		return nil
	}
	rel, err := filepath.Rel(place.Package, path)
	if err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return errors.New("it leads out of the source package that it is written in")
}

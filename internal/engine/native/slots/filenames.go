// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package slots

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// The files that a provider opens cannot be known, but most of its arguments name no file: numbers,
// flags, and texts that neither look like the name of a file, nor are the argument of a file, nor
// name an existing one. Where there is doubt, a text is taken for a name: that costs a process.

// commandWords are parts of names of arguments with commands: these work in some directory whatever
// the argument is.
var commandWords = []string{"cmd", "command", "commands", "exec", "interpreter", "program", "script", "scripts"}

// fileWords are parts of names of arguments with names of files, and fileEnds are ends of such
// parts.
var (
	fileWords = []string{"archive", "chart", "context", "folder", "folders", "inventory", "kubeconfig", "playbook", "template"}
	fileEnds  = []string{"dir", "directories", "directory", "dirs", "file", "filename", "filenames", "files", "path", "paths"}
)

// lastWords are ends of names of arguments with names of files: a source_file is one, a source_port
// is none.
var lastWords = []string{"source", "sources", "target"}

type argument uint8

const (
	otherArgument argument = iota
	fileArgument
	commandArgument
)

// argumentOf judges an argument by its name.
func argumentOf(name string) argument {
	kind := otherArgument
	words := strings.Split(strings.ToLower(name), "_")
	for i, word := range words {
		switch {
		case slices.Contains(commandWords, word):
			return commandArgument
		case word == "profile", word == "profiles":
		case slices.Contains(fileWords, word),
			i == len(words)-1 && slices.Contains(lastWords, word),
			slices.ContainsFunc(fileEnds, func(end string) bool { return strings.HasSuffix(word, end) }):
			kind = fileArgument
		}
	}
	return kind
}

// steps matches relative paths that begin with a step, also in longer texts.
var steps = regexp.MustCompile(`(?:^|[\s"'=:,;(\[{|<>&])(?:\.{1,2}[/\\]|\.terraform/)`)

// extensions matches names that end like those of files that are often made and read.
var extensions = regexp.MustCompile(`(?i)^[^\s/\\][^\n]*\.(?:7z|bat|bin|cer|cfg|conf|crt|csv|cue|dat|env|gz|hcl|html?|img|ini|iso|jar|jks|js|json|jsonnet|key|lock|log|lua|md|ova|p12|pem|pfx|php|pkl|` +
	`properties|ps1|pub|py|qcow2|rb|rego|sh|sql|tar|tf|tfvars|tgz|toml|tpl|ts|txt|war|whl|xml|xz|ya?ml|zip|zst)$`)

// longestName is more than systems take for the name of a file.
const longestName = 4096

// namesFiles reports whether a provider may take a text in a value for the name of a file that is
// not absolute. exists reports whether there is something of a name in the directory of the
// component.
func namesFiles(value cty.Value, exists func(name string) bool) bool {
	if value == cty.NilVal {
		return false
	}
	found := false
	//nolint:errcheck // the callback returns no error
	_ = cty.Walk(value, func(path cty.Path, part cty.Value) (bool, error) {
		part, _ = part.Unmark()
		switch {
		case found || part.IsNull() || !part.IsKnown():
			return false, nil
		case part.Type() == cty.String:
			found = namesFile(argumentAt(path), part.AsString(), exists)
		}
		return !found, nil
	})
	return found
}

// argumentAt judges a place in a value by the names on the way to it.
func argumentAt(path cty.Path) argument {
	kind := otherArgument
	for _, step := range path {
		if attr, ok := step.(cty.GetAttrStep); ok {
			kind = max(kind, argumentOf(attr.Name))
		}
	}
	return kind
}

func namesFile(kind argument, text string, exists func(name string) bool) bool {
	switch {
	case text == "":
		return false
	case kind == commandArgument || text == "." || text == ".." || steps.MatchString(text):
		return true
	case len(text) > longestName || strings.ContainsAny(text, "\n\x00") || filepath.IsAbs(text) || strings.HasPrefix(text, "~") ||
		strings.Contains(text, "://"):
		return false
	case kind == fileArgument || extensions.MatchString(text):
		return true
	}
	first, _, _ := strings.Cut(filepath.ToSlash(text), "/")
	return first != "" && exists(first)
}

// alwaysNames reports whether each object of a type names files: an argument of it that is required
// does.
func alwaysNames(of *schema.Schema) bool {
	return of != nil && slices.ContainsFunc(of.Block.Attributes, func(attr *schema.Attribute) bool {
		return attr.Required && argumentOf(attr.Name) != otherArgument
	})
}

// The parts of modules that name files: references to their directories, functions for paths and
// those of providers, and provisioners. The source of a module call is none.
var (
	mentions  = regexp.MustCompile(`\bpath\s*[.\[]|\babspath\b|\bprovisioner\b|\bprovider::`)
	arguments = regexp.MustCompile(`^\s*"?([A-Za-z]\w*)"?\s*[=:{]`)
)

// MentionsFiles reports whether a file of a module names files by other means than functions with
// constant arguments.
func MentionsFiles(source []byte) bool {
	if mentions.Match(source) {
		return true
	}
	for line := range bytes.Lines(source) {
		name := ""
		if found := arguments.FindSubmatch(line); found != nil {
			name = string(found[1])
		}
		if name != "source" && (argumentOf(name) != otherArgument || steps.Match(line)) {
			return true
		}
	}
	return false
}

// NamesFiles reports whether a provider may take arguments for names of files that are not
// absolute. exists is as [Directory.Has].
func NamesFiles(args []cty.Value, exists func(name string) bool) bool {
	return slices.ContainsFunc(args, func(arg cty.Value) bool { return namesFiles(arg, exists) })
}

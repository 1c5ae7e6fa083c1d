// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Constraint says which versions are wanted. The zero value accepts all.
type Constraint struct {
	parsed version.Constraints
	text   string
}

var exactVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+[-+.0-9A-Za-z]*$`)

// ParseConstraint reads a whole version, which stands for that version alone, constraints such as
// ">= 1.9, < 2", or "latest", which accepts all as the empty text does.
func ParseConstraint(text string) (Constraint, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "latest" {
		return Constraint{}, nil
	}
	if exactVersion.MatchString(text) {
		text = strings.TrimPrefix(text, "v")
	}
	parsed, err := version.NewConstraint(text)
	if err != nil {
		return Constraint{}, fmt.Errorf("%q is neither a version such as 1.12.0 nor a constraint such as \">= 1.11, < 2\"", text)
	}
	return Constraint{parsed, text}, nil
}

// String returns the constraint as [ParseConstraint] reads it.
func (c Constraint) String() string { return c.text }

// exact returns the only version that is accepted, and nil if there are several.
func (c Constraint) exact() *version.Version {
	if !exactVersion.MatchString(c.text) {
		return nil
	}
	only, err := version.NewVersion(c.text)
	if err != nil {
		return nil
	}
	return only
}

// Accepts reports whether a version is wanted. A pre-release counts as the release that it comes
// before, as in the required_version argument of modules, unless the constraint names one itself.
func (c Constraint) Accepts(v *version.Version) bool {
	return c.parsed.Check(v) || !c.namesPrerelease() && c.parsed.Check(v.Core())
}

func (c Constraint) namesPrerelease() bool {
	for _, part := range c.parsed {
		if part.Prerelease() {
			return true
		}
	}
	return false
}

// Requirement is a constraint on the version of the engine that was written down somewhere.
type Requirement struct {
	Program    string // that it is about; empty if about both
	Constraint Constraint
	Place      string     // where it is written, for messages
	Range      *hcl.Range // of it, where that can be shown

	// Invalid is the reason why the text is no constraint. Then no version of the program is accepted.
	Invalid string

	// Advisory requirements prefer a binary and exclude none: where they accept no binary, the first
	// one is used that the others accept.
	Advisory bool
}

// accepts reports whether a version of a program meets the requirement.
func (r Requirement) accepts(program string, v *version.Version) bool {
	return !r.applies(program) || r.Invalid == "" && r.Constraint.Accepts(v)
}

// applies reports whether the requirement is about a program.
func (r Requirement) applies(program string) bool { return r.Program == "" || r.Program == program }

// UnacceptedError says that a requirement does not accept the version of a binary.
type UnacceptedError struct {
	Path        string
	Info        engine.Info
	Requirement Requirement
}

func (e *UnacceptedError) Error() string {
	if e.Requirement.Invalid != "" {
		return fmt.Sprintf("%s is %s %s; %s", e.Path, e.Info.Name, e.Info.Version, e.Requirement.Invalid)
	}
	return fmt.Sprintf("%s is %s %s; %s requires version %s", e.Path, e.Info.Name, e.Info.Version, e.Requirement.Place,
		e.Requirement.Constraint)
}

// check checks the binary against requirements. The candidate then has the result.
func (c *Candidate) check(requirements []Requirement) {
	if c.Err = CheckVersion(c.Path, c.Info); c.Err != nil {
		return
	}
	found, err := version.NewVersion(c.Info.Version)
	if err != nil {
		c.Err = fmt.Errorf("version of %s: %w", c.Path, err)
		return
	}
	for _, required := range requirements {
		if required.accepts(c.Info.Name, found) {
			continue
		}
		unaccepted := &UnacceptedError{Path: c.Path, Info: c.Info, Requirement: required}
		if !required.Advisory {
			c.Err = unaccepted
			return
		}
		c.Unmet = append(c.Unmet, unaccepted)
	}
}

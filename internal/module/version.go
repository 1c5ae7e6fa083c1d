// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// VersionConstraint is a required_version argument.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// requiredVersion notes a constraint, which may be written as a number. One of an override file
// takes the place of all others.
func (d *decoder) requiredVersion(attr *hcl.Attribute) {
	text, diags := decodeConstraint(attr.Expr)
	d.report(diags)
	if text == "" {
		return
	}
	if constraints, err := version.NewConstraint(text); err == nil && slices.ContainsFunc(constraints, (*version.Constraint).Prerelease) {
		d.report(hcl.Diagnostics{failure.At(attr.Range, "Invalid version constraint",
			"A constraint on the version of terraform cannot name a pre-release: those count as the release that they come before.")})
		return
	}
	if d.override {
		d.dir.Versions = nil
	}
	d.dir.Versions = append(d.dir.Versions, VersionConstraint{text, attr.Expr.Range()})
}

// decodeConstraint decodes a constraint on a version. It is empty if the argument is null, which is
// as none.
func decodeConstraint(expr hcl.Expression) (string, hcl.Diagnostics) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.IsNull() {
		return "", diags
	}
	text, err := convert.Convert(value, cty.String)
	if err == nil {
		_, err = version.NewConstraint(text.AsString())
	}
	if err != nil {
		return "", hcl.Diagnostics{failure.At(expr.Range(), "Invalid version constraint",
			"This is not a version constraint. One is written like \"~> 1.2\", or \">= 1.0, < 2.0\".")}
	}
	return text.AsString(), nil
}

// newer is a use of something that terraform has had since a version.
type newer struct {
	since   string
	feature string // as in "terraform has FEATURE since"
	at      hcl.Range
}

// since notes the use of something that terraform has had since a version only.
func (d *decoder) since(version, feature string, at hcl.Range) {
	d.dir.newer = append(d.dir.newer, newer{version, feature, at})
}

// judgeVersions judges the versions of terraform that modules ask for. With errors, the other
// errors of the modules may be none for the terraform that they are for.
func (l *Loader) judgeVersions(tree *Tree) hcl.Diagnostics {
	current, err := version.NewVersion(l.opts.Terraform)
	if err != nil {
		return nil //nolint:nilerr // it is not terraform
	}
	wanted := demandsOf(tree)
	if len(wanted) == 0 {
		return nil
	}
	accepted := []*version.Version{current, current.Core()}
	if oldest, err := version.NewVersion(l.opts.Oldest); err == nil {
		if accepted = patches(current); !allAccept(wanted, accepted[0]) { // as nearly all modules do
			accepted = between(oldest, current, wanted)
		}
	}
	for _, one := range accepted {
		if allAccept(wanted, one) {
			l.judgeFeatures(tree, one, wanted)
			return nil
		}
	}
	var alone, diags hcl.Diagnostics
	for _, d := range wanted {
		if !slices.ContainsFunc(accepted, d.constraints.Check) {
			alone = append(alone, l.wrongVersion(d))
		} else if !d.constraints.Check(current) { // and others accept no version that this one does
			diags = append(diags, l.wrongVersion(d))
		}
	}
	if len(alone) > 0 {
		return alone
	}
	return diags
}

// judgeFeatures notes which terraform a tree of modules asks for, of those whose language the
// engine has, and reports uses of what even the newest one that they allow does not have.
func (l *Loader) judgeFeatures(tree *Tree, newest *version.Version, wanted []demand) {
	if l.opts.Oldest == "" {
		return // a binary knows what it has
	}
	for _, d := range wanted {
		if olderOnly(d.constraints, newest) {
			tree.Older = &d.VersionConstraint
		}
	}
	uses := slices.Clone(tree.Root.newer)
	for _, dir := range appendDirectories(nil, tree.Nodes) {
		uses = append(uses, dir.newer...)
		for _, i := range dir.Imports {
			uses = append(uses, newer{"1.16", "import blocks in called modules", i.Range})
		}
	}
	for _, use := range uses {
		if newest.LessThan(version.Must(version.NewVersion(use.since))) {
			tree.strict = append(tree.strict, failure.At(use.at, "Feature of a newer terraform", "terraform has %s since version %s, and the "+
				"module, or one that it calls or is called by, is for older ones only: see required_version.", use.feature, use.since))
		}
	}
}

// olderOnly reports whether a constraint, which a version satisfies, excludes the newest behaviour,
// and not the oldest one. Of a constraint on the versions between the two nothing is known but that
// the module may need something that the oldest one does not have.
func olderOnly(constraints version.Constraints, newest *version.Version) bool {
	return newest.LessThan(version.Must(version.NewVersion(toolchain.NativeTerraform))) &&
		slices.ContainsFunc(patches(version.Must(version.NewVersion(toolchain.NativeOldest))), constraints.Check)
}

// demand is a constraint of a module on the version of terraform.
type demand struct {
	VersionConstraint
	constraints version.Constraints
}

// allAccept reports whether a version satisfies all constraints.
func allAccept(wanted []demand, one *version.Version) bool {
	return !slices.ContainsFunc(wanted, func(d demand) bool { return !d.constraints.Check(one) })
}

func demandsOf(tree *Tree) []demand {
	var found []demand
	for _, dir := range tree.Directories() {
		for _, wanted := range dir.Versions {
			if constraints, err := version.NewConstraint(wanted.Text); err == nil {
				found = append(found, demand{wanted, constraints})
			}
		}
	}
	return found
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+)*`)

// between returns versions of terraform, the newest first, such that constraints accept one of them
// if they accept any of the releases of a range.
//
// Where they accept some, they accept the oldest or the newest of these, which is an end of the
// range, or one of the numbers in the constraints, or next to one.
func between(oldest, newest *version.Version, wanted []demand) []*version.Version {
	found := append(patches(newest), newest)
	first, last := oldest.Segments(), newest.Segments()
	for minor := first[1]; minor < last[1]; minor++ {
		found = append(found, patches(version.Must(version.NewVersion(fmt.Sprintf("%d.%d.0", first[0], minor))))...)
	}
	for _, d := range wanted {
		for _, number := range versionNumber.FindAllString(d.Text, -1) {
			mentioned, err := version.NewVersion(number)
			if err != nil {
				continue
			}
			s := mentioned.Segments()
			for patch := max(s[2]-1, 0); patch <= s[2]+1; patch++ {
				one := version.Must(version.NewVersion(fmt.Sprintf("%d.%d.%d", s[0], s[1], patch)))
				if !one.LessThan(oldest) && !found[0].LessThan(one) {
					found = append(found, one)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *version.Version) int { return b.Compare(a) })
	return found
}

// patches returns a patch release that no release is newer than, and the first one, of the minor
// release that a version is of.
func patches(of *version.Version) []*version.Version {
	s := of.Segments()
	var found []*version.Version
	for _, patch := range []int{999, 0} {
		found = append(found, version.Must(version.NewVersion(fmt.Sprintf("%d.%d.%d", s[0], s[1], patch))))
	}
	return found
}

func (l *Loader) wrongVersion(d demand) *hcl.Diagnostic {
	engine := "the engine is Terraform " + l.opts.Terraform
	if l.opts.Oldest != "" {
		engine = fmt.Sprintf("the native engine behaves like Terraform %s to %s", Minor(l.opts.Oldest), Minor(l.opts.Terraform))
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unsupported Terraform version",
		Detail: fmt.Sprintf("This module is for Terraform %[1]s, and %[2]s. "+
			"Install a binary that it is for, use another version of the module, or change the constraint. "+
			"Where PATH has another one, the engine block of cairn.hcl has to require it, too: binary = \"terraform\", "+
			"version = %[1]q.", d.Text, engine),
		Subject: d.Range.Ptr(),
		Extra:   fault.Named{Code: toolchain.CodeNotInstalled, Names: []string{toolchain.Terraform + " " + d.Text}},
	}
}

// Minor returns a version without the number of the patch.
func Minor(version string) string { return version[:strings.LastIndexByte(version, '.')] }

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

// VersionConstraint is a required_version argument, or one of a language block.
type VersionConstraint struct {
	Text  string
	Tofu  bool // on the version of OpenTofu, and not of terraform
	Range hcl.Range
}

// versionConstraint notes a constraint, which may be written as a number. One of an override file
// takes the place of all others for the same program.
func (d *decoder) versionConstraint(attr *hcl.Attribute, ofTofu bool) {
	text, diags := decodeConstraint(attr.Expr)
	d.report(diags)
	if text == "" {
		return
	}
	if constraints, err := version.NewConstraint(text); err == nil && slices.ContainsFunc(constraints, (*version.Constraint).Prerelease) {
		d.report(hcl.Diagnostics{failure.At(attr.Range, "Invalid version constraint",
			"A constraint on the version of the engine cannot name a pre-release: those count as the release that they come before.")})
		return
	}
	if d.override {
		d.dir.Versions = slices.DeleteFunc(d.dir.Versions, func(other VersionConstraint) bool { return other.Tofu == ofTofu })
	}
	d.dir.Versions = append(d.dir.Versions, VersionConstraint{text, ofTofu, attr.Expr.Range()})
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

// since notes the use of something that terraform has had since a version only. A directory for
// tofu is not for any version of terraform.
func (d *decoder) since(version, feature string, at hcl.Range) {
	if d.tofu {
		return
	}
	d.dir.newer = append(d.dir.newer, newer{version, feature, at})
}

// offer is the versions of a program whose language an engine has.
type offer struct {
	program, name  string // the name is for messages
	oldest, newest string // oldest is empty if there is one alone
}

// judgeVersions judges the versions of terraform and of OpenTofu that modules ask for. With errors,
// the other errors of the modules may be none for the program that they are for.
func (l *Loader) judgeVersions(tree *Tree) hcl.Diagnostics {
	if l.opts.Terraform == "" {
		return nil
	}
	ofTerraform, ofTofu := demandsOf(tree)
	newest, diags := offer{toolchain.Terraform, "Terraform", l.opts.Oldest, l.opts.Terraform}.judge(ofTerraform)
	if newest != nil {
		l.judgeFeatures(tree, newest, ofTerraform)
	}
	_, moreDiags := offer{toolchain.Tofu, "OpenTofu", toolchain.NativeOldestTofu, toolchain.NativeTofu}.judge(ofTofu)
	return append(diags, moreDiags...)
}

// judge returns the newest version that all constraints accept. It is nil without constraints, and
// with errors.
func (o offer) judge(wanted []demand) (*version.Version, hcl.Diagnostics) {
	current, err := version.NewVersion(o.newest)
	if err != nil || len(wanted) == 0 {
		return nil, nil //nolint:nilerr // the version of a program that nobody knows, and nothing is judged
	}
	accepted := []*version.Version{current, current.Core()}
	if oldest, err := version.NewVersion(o.oldest); err == nil {
		if accepted = patches(current); !allAccept(wanted, accepted[0]) { // as nearly all modules do
			accepted = between(oldest, current, wanted)
		}
	}
	for _, one := range accepted {
		if allAccept(wanted, one) {
			return one, nil
		}
	}
	var alone, diags hcl.Diagnostics
	for _, d := range wanted {
		if !slices.ContainsFunc(accepted, d.constraints.Check) {
			alone = append(alone, o.wrongVersion(d))
		} else if !d.constraints.Check(current) { // and others accept no version that this one does
			diags = append(diags, o.wrongVersion(d))
		}
	}
	if len(alone) > 0 {
		return nil, alone
	}
	return nil, diags
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
		if dir.Tofu != nil {
			continue // it is for no version of terraform
		}
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

// demand is a constraint of a module on the version of a program.
type demand struct {
	VersionConstraint
	constraints version.Constraints
}

// allAccept reports whether a version satisfies all constraints.
func allAccept(wanted []demand, one *version.Version) bool {
	return !slices.ContainsFunc(wanted, func(d demand) bool { return !d.constraints.Check(one) })
}

// demandsOf returns the demands of a tree by program. In a directory for tofu, those for terraform
// count as little as tofu itself lets them.
func demandsOf(tree *Tree) (ofTerraform, ofTofu []demand) {
	for _, dir := range tree.Directories() {
		for _, wanted := range dir.Versions {
			constraints, err := version.NewConstraint(wanted.Text)
			switch {
			case err != nil:
			case wanted.Tofu:
				ofTofu = append(ofTofu, demand{wanted, constraints})
			case dir.Tofu == nil:
				ofTerraform = append(ofTerraform, demand{wanted, constraints})
			}
		}
	}
	return ofTerraform, ofTofu
}

var versionNumber = regexp.MustCompile(`\d+(\.\d+)*`)

// between returns versions of a program, the newest first, such that constraints accept one of them
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

func (o offer) wrongVersion(d demand) *hcl.Diagnostic {
	engine := fmt.Sprintf("the engine is %s %s", o.name, o.newest)
	if o.oldest != "" {
		engine = fmt.Sprintf("the native engine behaves like %s %s to %s", o.name, Minor(o.oldest), Minor(o.newest))
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unsupported " + o.name + " version",
		Detail: fmt.Sprintf("This module is for %[1]s %[2]s, and %[3]s. "+
			"Install a binary that it is for, use another version of the module, or change the constraint. "+
			"Where PATH has another one, the engine block of cairn.hcl has to require it, too: binary = %[4]q, "+
			"version = %[2]q.", o.name, d.Text, engine, o.program),
		Subject: d.Range.Ptr(),
		Extra:   fault.Named{Code: toolchain.CodeNotInstalled, Names: []string{o.program + " " + d.Text}},
	}
}

// Minor returns a version without the number of the patch.
func Minor(version string) string { return version[:strings.LastIndexByte(version, '.')] }

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package locks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"

	"github.com/cairnstacks/cairn/internal/providers/release"
)

// operator is how constraints of a kind are written.
type operator struct {
	op      constraints.SelectionOp
	written string
}

// operators are in the order in which constraints of the same version stand.
var operators = []operator{
	{constraints.OpGreaterThan, "> "},
	{constraints.OpGreaterThanOrEqual, ">= "},
	{constraints.OpEqual, ""},
	{constraints.OpGreaterThanOrEqualPatchOnly, "~> "},
	{constraints.OpGreaterThanOrEqualMinorOnly, "~> "},
	{constraints.OpLessThanOrEqual, "<= "},
	{constraints.OpLessThan, "< "},
	{constraints.OpNotEqual, "!= "},
}

// constraint is one constraint in its normal form.
type constraint struct {
	version versions.Version
	order   int // of its operator
	text    string
}

// NormalizeConstraints returns constraints in the form in which lock files have them: sorted by
// version and operator, without repetitions, with whole versions.
func NormalizeConstraints(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	parsed, err := constraints.ParseRubyStyleMulti(text)
	if err != nil {
		return "", fmt.Errorf("%q are not constraints of a version: %w", text, err)
	}
	var normal []constraint
	for _, selection := range parsed {
		normal = append(normal, normalize(selection))
	}
	slices.SortStableFunc(normal, func(a, b constraint) int {
		return cmp.Or(release.CompareVersions(a.version, b.version), cmp.Compare(a.order, b.order), cmp.Compare(a.text, b.text))
	})
	var texts []string
	for _, one := range slices.Compact(normal) {
		texts = append(texts, one.text)
	}
	return strings.Join(texts, ", "), nil
}

func normalize(selection constraints.SelectionSpec) constraint {
	boundary := selection.Boundary.ConstrainToZero()
	version := versions.Version{
		Major:      boundary.Major.Num,
		Minor:      boundary.Minor.Num,
		Patch:      boundary.Patch.Num,
		Prerelease: versions.VersionExtra(boundary.Prerelease),
		Metadata:   versions.VersionExtra(boundary.Metadata),
	}
	written := version.String()
	if selection.Operator == constraints.OpGreaterThanOrEqualMinorOnly {
		written = fmt.Sprintf("%d.%d", version.Major, version.Minor)
	}
	order := slices.IndexFunc(operators, func(o operator) bool { return o.op == selection.Operator })
	return constraint{version, order, operators[max(order, 0)].written + written}
}

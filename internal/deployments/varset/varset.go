// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/settings"
)

// Value is that of one variable of a set.
type Value struct {
	Value     cty.Value // a string, or of any type where the place of values has types; known, without marks; may be null, or have nulls in it
	Sensitive bool
}

// Sets reads sets. It is safe for concurrent use.
type Sets interface {
	// Read returns the variables of a category, "terraform" or "env", of the set with that ID or that
	// name, one of which is empty. The caller must not change them. A set from the environment may
	// have all of its variables, so hide of sensitive values those that are used.
	//
	// Errors: [hcl.Diagnostics], which never hold a value.
	Read(ctx context.Context, id, name, category string) (map[string]Value, error)
}

// Open returns the sets of the settings. Dir is the directory of the stack, from which relative
// paths count and in which commands are run. A set is read once: open the sets anew for an
// operation that is to have new values.
func Open(s settings.Varsets, environ []string, dir string) (Sets, error) {
	return &opened{settings: s, environ: environ, dir: dir}, nil
}

// Warnings returns the warnings of sets that [Open] has returned, each once. It returns nothing for
// other sets.
func Warnings(sets Sets) hcl.Diagnostics {
	if o, ok := sets.(*opened); ok {
		return o.warnings.Take()
	}
	return nil
}

// opened is the result of [Open].
type opened struct {
	settings settings.Varsets
	environ  []string
	dir      string
	contents once.Map[key, map[string]Value]
	warnings failure.Warnings
}

// key names a source, and the category that it is read as.
type key struct {
	block    *settings.Varset
	category string
}

// Read implements [Sets].
func (o *opened) Read(ctx context.Context, id, name, category string) (map[string]Value, error) {
	block := o.settings.For(id, name, category)
	if block == nil {
		return nil, o.unknown(cmp.Or(id, name), category)
	}
	return o.contents.Get(ctx, key{block, category}, func() (map[string]Value, error) {
		r := &reader{opened: o, block: block, category: category}
		values, err := r.values(ctx)
		if err != nil {
			return nil, err
		}
		return r.marked(values)
	})
}

// unknown returns the error about a set that has no settings, with a remedy.
func (o *opened) unknown(called, category string) error {
	var names []string
	for _, set := range o.settings.Sets {
		if set.Name == called {
			return fail(set.Range.Ptr(), "Unknown variable set",
				"The variables of category %q of the set %q are needed, and this block is for those of category %q. "+
					"Add another varset block with category = %[1]q.", category, called, set.Category)
		}
		names = append(names, set.Name)
	}
	return fail(nil, "Unknown variable set",
		"Nothing says where the values of the variable set %q are.%s Add a block to %s, such as varset %q { file = %q }, or "+
			"one with environment or command.", called, nearest.DidYouMean(called, names), settings.File, called, "values."+usualFormat(category))
}

func usualFormat(category string) string {
	if category == settings.EnvironmentCategory {
		return "env"
	}
	return "tfvars"
}

// fail returns an error about a place of the settings.
func fail(at *hcl.Range, summary, detail string, args ...any) error {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: at}}
}

// reader reads one set.
type reader struct {
	*opened

	block    *settings.Varset
	category string
}

func (r *reader) fail(summary, detail string, args ...any) error {
	return fail(r.block.Range.Ptr(), summary, detail, args...)
}

// values returns the values in the place of the set.
func (r *reader) values(ctx context.Context) (map[string]cty.Value, error) {
	switch {
	case r.block.Environment:
		return r.fromEnvironment(), nil
	case r.block.File != "":
		return r.fromFile(ctx)
	}
	return r.fromCommand(ctx)
}

// marked makes variables of values (rule V4).
func (r *reader) marked(values map[string]cty.Value) (map[string]Value, error) {
	for _, name := range r.block.SensitiveNames {
		if _, ok := values[name]; !ok && (r.block.Category != "" || r.block.File != "") { // else it may be one of the other category
			return nil, r.fail("Unknown sensitive variable", "The set %q has no variable %q, which sensitive names.%s", r.block.Name, name,
				nearest.DidYouMean(name, slices.Sorted(maps.Keys(values))))
		}
	}
	result := make(map[string]Value, len(values))
	for name, value := range values {
		if r.category == settings.EnvironmentCategory {
			text, err := convert.Convert(value, cty.String)
			if err != nil {
				return nil, r.fail("Non-string variable in set", "The variable %q of the set %q is %s. Variables of category env are strings.",
					name, r.block.Name, value.Type().FriendlyName())
			}
			value = text
		}
		result[name] = Value{value, r.block.Sensitive || slices.Contains(r.block.SensitiveNames, name)}
	}
	return result, nil
}

// terraformPrefix is how terraform finds values of variables in its environment.
const terraformPrefix = "TF_VAR_"

// fromEnvironment returns variables of the environment, without the prefix of their names. Where
// none is set, it is terraform's for variables of terraform, and there is none for those of the
// environment.
func (r *reader) fromEnvironment() map[string]cty.Value {
	prefix := r.block.Prefix
	if prefix == "" && r.category == settings.TerraformCategory {
		prefix = terraformPrefix
	}
	values := map[string]cty.Value{}
	for _, entry := range r.environ { // of several the last one counts
		name, value, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, prefix); ok && name != "" {
			values[name] = cty.StringVal(value)
		}
	}
	return values
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package variables reads the values that are given to the root variables of a stack: in the
// environment, in files, as text, and as they are.
package variables

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Argument gives values to variables, in one of three ways. Later ones win.
type Argument struct {
	File string // a variables file
	Text string // NAME=VALUE

	// Option is the option of a command line that gave the text, if it was one, such as "-var".
	// Messages name it.
	Option string

	Name  string    // of one variable,
	Value cty.Value // and its value, of any type that converts; it may be unknown in whole or in part

	// Sensitive keeps the parts of the value sensitive that are marked so, besides those that the
	// declaration makes sensitive. Range is where the value is written, nil for nowhere.
	Sensitive bool
	Range     *hcl.Range
}

// The prefixes of environment variables; the later ones win.
var variablePrefixes = []string{"TF_VAR_", "CAIRN_VAR_"}

// InEnviron returns the entries of an environment that give values to variables.
func InEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return !slices.ContainsFunc(variablePrefixes, func(prefix string) bool { return strings.HasPrefix(entry, prefix) })
	})
}

// Given are values of root variables, of their declared types.
type Given struct {
	Values   map[string]cty.Value
	Explicit map[string]bool      // given by an option, not by the environment
	Unknown  map[string]hcl.Range // where the values stand that are not known in whole; the zero range for those that stand nowhere

	// Environment has the names of the environment variables that values were taken from.
	Environment map[string]string
}

// Set takes a value that is known for one of an option.
func (g Given) Set(name string, value cty.Value) {
	g.Values[name], g.Explicit[name] = value, true
	delete(g.Unknown, name)
	delete(g.Environment, name)
}

// Sources are where values of variables come from. Later ones win.
type Sources struct {
	Environ   []string         // of which variables with certain prefixes are values
	Inputs    map[string]Input // of the deployment
	Arguments []Argument
}

// Input is the value of a variable in deployment files, and its place. It may be unknown, and
// marked: sensitive ones stay so.
type Input struct {
	Value cty.Value
	Range hcl.Range
}

// Read collects the values that were given for root variables.
func Read(declared map[string]*stackconfig.InputVariable, sources Sources, files map[string]*hcl.File) (Given, hcl.Diagnostics) {
	r := &reader{
		files:    files,
		environ:  sources.Environ,
		declared: declared,
		given:    Given{map[string]cty.Value{}, map[string]bool{}, map[string]hcl.Range{}, map[string]string{}},
		fromEnv:  map[string]hcl.Diagnostics{},
	}
	r.environment()
	for _, name := range slices.Sorted(maps.Keys(sources.Inputs)) {
		r.input(name, sources.Inputs[name])
	}
	for _, argument := range sources.Arguments {
		switch {
		case argument.File != "":
			r.file(argument.File)
		case argument.Name != "":
			r.value(argument)
		default:
			r.argument(argument)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.fromEnv)) {
		r.diags = r.diags.Extend(r.fromEnv[name])
	}
	return r.given, r.diags
}

type reader struct {
	files    map[string]*hcl.File
	environ  []string
	declared map[string]*stackconfig.InputVariable
	given    Given
	diags    hcl.Diagnostics

	// fromEnv are the problems with values from the environment. They don't matter where an option
	// gives another.
	fromEnv map[string]hcl.Diagnostics
}

// FilesVariable is the environment variable with a list of files with values, as PATH is one of
// directories.
const FilesVariable = "CAIRN_VAR_FILES"

// WarnUnread warns of files next to the stack that terraform would read by itself, and nobody has
// named here.
func WarnUnread(dir string, sources Sources) hcl.Diagnostics {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // work in the directory reports it
	}
	var unread []string
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".json")
		if name != "terraform.tfvars" && !strings.HasSuffix(name, ".auto.tfvars") || entry.IsDir() {
			continue
		}
		if !slices.ContainsFunc(sources.Arguments, func(a Argument) bool { return isSameFile(a.File, filepath.Join(dir, entry.Name())) }) {
			unread = append(unread, entry.Name())
		}
	}
	if len(unread) == 0 {
		return nil
	}
	return hcl.Diagnostics{failure.With(Unread(unread), failure.Warning("Ignored variables file",
		"Stacks take no values from files by themselves, whatever their name. Not read: %s.", strings.Join(unread, ", ")))}
}

// Unread are the names of variables files that were not read. It is the Extra of the warning of
// that.
type Unread []string

func isSameFile(a, b string) bool {
	if a == "" {
		return false
	}
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func (r *reader) environment() {
	for _, prefix := range variablePrefixes {
		for name, declared := range r.declared {
			text, ok := environ.LookUp(r.environ, prefix+name)
			if !ok {
				continue
			}
			value, diags := Parse(declared, text, "environment variable "+prefix+name, r.files)
			delete(r.given.Values, name)
			delete(r.given.Environment, name)
			delete(r.fromEnv, name)
			if len(diags) > 0 {
				r.fromEnv[name] = diags
			}
			if !diags.HasErrors() {
				r.given.Values[name], r.given.Environment[name] = value, prefix+name
			}
		}
	}
}

func (r *reader) argument(given Argument) {
	origin := "argument"
	if given.Option != "" {
		origin = "option " + given.Option
	}
	name, value, ok := strings.Cut(given.Text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		r.diags = r.diags.Append(failure.New("Variable without value", "The %s=%s gives no value. Write NAME=VALUE.", origin, given.Text))
		return
	}
	declared := r.declared[name]
	if declared == nil {
		r.diags = r.diags.Append(failure.New("Value for undeclared variable",
			"The %[1]s gives a value for %[2]q, but the configuration declares no variable of that name.%[3]s To declare it, add a block: "+
				"variable %[2]q { type = string }.", origin, name, nearest.DidYouMean(name, slices.Collect(maps.Keys(r.declared)))))
		return
	}
	parsed, diags := Parse(declared, value, origin+"="+name, r.files)
	r.set(name, parsed, diags)
}

// value takes the value of a program, which has no place in a file.
func (r *reader) value(given Argument) {
	name, value := given.Name, given.Value
	declared := r.declared[name]
	if declared == nil {
		diag := failure.New("Value for undeclared variable", "A value is given for %q, but the configuration declares no variable of that "+
			"name.%s",
			name, nearest.DidYouMean(name, slices.Collect(maps.Keys(r.declared))))
		diag.Subject = given.Range
		r.diags = r.diags.Append(diag)
		return
	}
	if value == cty.NilVal {
		value = cty.NullVal(cty.DynamicPseudoType)
	}
	if !given.Sensitive {
		value, _ = value.UnmarkDeep() // the declaration says whether it is sensitive
	}
	converted, diags := convertVariable(declared, value, hcl.Range{}, nil)
	if given.Sensitive && marks.Contains(value, marks.Sensitive) {
		diags = inSecret(diags)
	}
	for _, diag := range diags {
		diag.Subject = given.Range
	}
	r.set(name, converted, diags)
	if !diags.HasErrors() && !converted.IsWhollyKnown() {
		r.given.Unknown[name] = hcl.Range{}
	}
}

// input takes the value in deployment files. That such a variable is declared was checked.
func (r *reader) input(name string, input Input) {
	declared := r.declared[name]
	if declared == nil {
		return
	}
	if marks.Contains(input.Value, marks.Ephemeral) && !declared.Ephemeral {
		r.diags = r.diags.Append(ephemeralInput(declared, input.Range))
		return
	}
	converted, diags := convertVariable(declared, marks.Remove(input.Value, marks.Ephemeral), input.Range, nil)
	if IsSecret(declared) || marks.Contains(input.Value, marks.Sensitive) {
		diags = inSecret(diags)
	}
	delete(r.fromEnv, name)
	delete(r.given.Environment, name)
	r.diags = r.diags.Extend(diags)
	if diags.HasErrors() {
		return
	}
	r.given.Values[name] = converted
	if !converted.IsWhollyKnown() {
		r.given.Unknown[name] = input.Range
	}
}

func ephemeralInput(declared *stackconfig.InputVariable, at hcl.Range) *hcl.Diagnostic {
	diag := failure.New("Ephemeral value for kept variable", "The value is fetched again for each operation and kept nowhere, but var.%s "+
		"is kept in plans and states. Declare the variable with ephemeral = true, or use the stable value of a store.", declared.Name)
	diag.Subject = at.Ptr()
	return diag
}

func (r *reader) set(name string, value cty.Value, diags hcl.Diagnostics) {
	delete(r.fromEnv, name)
	r.diags = r.diags.Extend(diags)
	if !diags.HasErrors() {
		r.given.Set(name, value)
	}
}

func (r *reader) file(path string) {
	attrs, diags := readFile(path, r.files)
	if anySecret(r.declared) {
		diags = inSecret(diags)
	}
	r.diags = r.diags.Extend(diags)
	var undeclared []*hcl.Attribute
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		attr := attrs[name]
		declared := r.declared[name]
		if declared == nil {
			undeclared = append(undeclared, attr)
			continue
		}
		value, diags := valueInFile(attr.Expr)
		if !diags.HasErrors() {
			value, diags = convertVariable(declared, value, attr.Expr.Range(), diags)
		}
		if IsSecret(declared) || strings.HasSuffix(path, ".json") && anySecret(r.declared) { // JSON may have it all on one line
			diags = inSecret(diags)
		}
		r.set(name, value, diags)
		if !diags.HasErrors() && !value.IsWhollyKnown() {
			r.given.Unknown[name] = attr.Expr.Range()
		}
	}
	for _, attr := range undeclared {
		diags := hcl.Diagnostics{failure.WarningAt(attr.NameRange, "Value for undeclared variable", "The configuration declares no variable "+
			"%q, so this value is not used.%s", attr.Name, nearest.DidYouMean(attr.Name, slices.Collect(maps.Keys(r.declared))))}
		if anySecret(r.declared) { // it may be one whose name is misspelt
			diags = inSecret(diags)
		}
		r.diags = r.diags.Extend(diags)
	}
}

// readFile returns the arguments of a file with values of variables.
func readFile(path string, files map[string]*hcl.File) (hcl.Attributes, hcl.Diagnostics) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hcl.Diagnostics{failure.New("Variables file not found", "There is no file %s.", path)}
	}
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Unreadable variables file", "The file cannot be read: %s.", failure.Reason(err))}
	}
	name := filepath.ToSlash(path)
	file, diags := safehcl.ParseFile(src, name)
	if file == nil {
		return nil, diags
	}
	files[name] = file
	if diags.HasErrors() {
		return nil, diags
	}
	return file.Body.JustAttributes()
}

// Parse reads a value written as text: as it stands for variables of a primitive type, as an
// expression for others. The origin stands for a file name in diagnostics.
func Parse(declared *stackconfig.InputVariable, text, origin string, files map[string]*hcl.File) (cty.Value, hcl.Diagnostics) {
	value, diags := parseOpen(declared, text, origin, files)
	if IsSecret(declared) {
		diags = inSecret(diags)
	}
	return value, diags
}

// parseOpen is [Parse] for values that may be shown.
func parseOpen(declared *stackconfig.InputVariable, text, origin string, files map[string]*hcl.File) (cty.Value, hcl.Diagnostics) {
	src := []byte(text)
	files[origin] = &hcl.File{Bytes: src}
	whole := hcl.Range{Filename: origin, Start: hcl.InitialPos, End: hcl.Pos{Line: 1, Column: len(src) + 1, Byte: len(src)}}
	if declared.Type.Constraint.IsPrimitiveType() {
		return convertVariable(declared, cty.StringVal(text), whole, unknownAsText(declared, text, whole))
	}
	expr, diags := safehcl.ParseExpression(src, origin, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if diag := refuseUnknown(expr); diag != nil {
		return cty.NilVal, diags.Append(diag)
	}
	value, moreDiags := expr.Value(nil)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return convertVariable(declared, value, whole, diags)
}

// secretSource is the Extra of diagnostics about text that holds secrets.
type secretSource struct{}

func (secretSource) SourceIsSecret() bool { return true }

// inSecret keeps the source out of diagnostics, and the words of it that they quote.
func inSecret(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, diag := range diags {
		diag.Extra = secretSource{}
		diag.Expression, diag.EvalContext = nil, nil
		if diag.Summary == "Invalid JSON keyword" {
			diag.Detail = "This is neither a string in quotes nor a number nor one of the words true, false and null."
		}
	}
	return diags
}

// IsSecret reports whether values of a variable are never shown.
func IsSecret(declared *stackconfig.InputVariable) bool {
	return declared.Sensitive || declared.Ephemeral
}

func anySecret(declared map[string]*stackconfig.InputVariable) bool {
	for _, variable := range declared {
		if IsSecret(variable) {
			return true
		}
	}
	return false
}

// convertVariable gives a value the declared type.
func convertVariable(declared *stackconfig.InputVariable, value cty.Value, rng hcl.Range,
	diags hcl.Diagnostics,
) (cty.Value, hcl.Diagnostics) {
	if value.IsNull() {
		return cty.NullVal(declared.Type.WithoutOptional()), diags
	}
	if declared.Type.Defaults != nil {
		value = declared.Type.Defaults.Apply(value)
	}
	converted, err := bounds.Convert(value, declared.Type.Constraint)
	if err != nil {
		return cty.NilVal, diags.Append(failure.At(rng, "Value does not fit the variable", "This value is not suitable for var.%s, declared at "+
			"%s: %s.", declared.Name, declared.Range, describeConversion(err, IsSecret(declared))))
	}
	return converted, diags
}

// describeConversion describes the mistake, and its place inside the value. Of a secret one, no key
// is named.
func describeConversion(err error, secret bool) string {
	var pathErr cty.PathError
	inside := errors.As(err, &pathErr) && len(pathErr.Path) > 0
	switch {
	case secret && (inside || strings.Contains(err.Error(), `"`)):
		return "a part of it has the wrong type; which one is not shown, because the variable is sensitive or ephemeral"
	case !inside:
		return err.Error()
	}
	var b strings.Builder
	for _, step := range pathErr.Path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + step.Name)
		case cty.IndexStep:
			switch {
			case step.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", step.Key.AsString())
			case step.Key.Type() == cty.Number:
				b.WriteString("[" + step.Key.AsBigFloat().Text('f', -1) + "]")
			}
		}
	}
	return "at " + b.String() + ": " + err.Error()
}

// Missing returns the variables without a value and without a default, sorted by name.
func Missing(declared map[string]*stackconfig.InputVariable, given Given) []*stackconfig.InputVariable {
	var missing []*stackconfig.InputVariable
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if _, ok := given.Values[name]; !ok && declared[name].Default == cty.NilVal {
			missing = append(missing, declared[name])
		}
	}
	return missing
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

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
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// variableArgument is one -var or -var-file, in the order in which they were given: later ones win.
type variableArgument struct {
	file string // of -var-file, else ""
	text string // NAME=VALUE of -var
}

// variableFlags are the options that give values to root variables.
type variableFlags struct {
	arguments []variableArgument
	input     bool
}

func (v *variableFlags) register(f *flagSet) {
	f.Func("var", "give the variable NAME a value: `NAME=VALUE`; may be repeated", func(text string) error {
		v.arguments = append(v.arguments, variableArgument{text: text})
		return nil
	})
	f.Func("var-file", "take values of variables from this `FILE`, in HCL, or in JSON if its name ends in .json; may be repeated",
		func(path string) error {
			v.arguments = append(v.arguments, variableArgument{file: path})
			return nil
		})
	f.BoolVar(&v.input, "input", true, "`false` never asks for values or approval")
}

// The prefixes of environment variables; the later ones win.
var variablePrefixes = []string{"TF_VAR_", "CAIRN_VAR_"}

// givenValues are values of root variables, of their declared types.
type givenValues struct {
	values   map[string]cty.Value
	explicit map[string]bool      // given by an option, not by the environment
	unknown  map[string]hcl.Range // where the values stand that are not known in whole
}

// set takes a value that is known for one of an option.
func (g givenValues) set(name string, value cty.Value) {
	g.values[name], g.explicit[name] = value, true
	delete(g.unknown, name)
}

// readVariables collects the values that were given for root variables.
func (s *session) readVariables(declared map[string]*stackconfig.InputVariable, arguments []variableArgument) (givenValues, hcl.Diagnostics) {
	r := &variableReader{
		session:  s,
		declared: declared,
		given:    givenValues{map[string]cty.Value{}, map[string]bool{}, map[string]hcl.Range{}},
		fromEnv:  map[string]hcl.Diagnostics{},
	}
	r.environment()
	for _, argument := range append(variableFilesFromEnv(), arguments...) {
		if argument.file != "" {
			r.file(argument.file)
		} else {
			r.argument(argument.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.fromEnv)) {
		r.diags = r.diags.Extend(r.fromEnv[name])
	}
	return r.given, r.diags
}

type variableReader struct {
	session  *session
	declared map[string]*stackconfig.InputVariable
	given    givenValues
	diags    hcl.Diagnostics

	// fromEnv are the problems with values from the environment. They don't matter where an option gives another.
	fromEnv map[string]hcl.Diagnostics
}

// variableFilesVariable is the environment variable with a list of files with values, as PATH is one of directories.
const variableFilesVariable = "CAIRN_VAR_FILES"

func variableFilesFromEnv() []variableArgument {
	var files []variableArgument
	for _, file := range filepath.SplitList(os.Getenv(variableFilesVariable)) {
		if file != "" {
			files = append(files, variableArgument{file: file})
		}
	}
	return files
}

// unreadVariableFiles warns of files beside the stack that terraform would read by itself, and nobody has named here.
func unreadVariableFiles(arguments []variableArgument) hcl.Diagnostics {
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil //nolint:nilerr // whoever needs the directory reports it
	}
	var unread []string
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".json")
		if name != "terraform.tfvars" && !strings.HasSuffix(name, ".auto.tfvars") || entry.IsDir() {
			continue
		}
		if !slices.ContainsFunc(append(variableFilesFromEnv(), arguments...), func(a variableArgument) bool { return isSameFile(a.file, entry.Name()) }) {
			unread = append(unread, entry.Name())
		}
	}
	if len(unread) == 0 {
		return nil
	}
	options := "-var-file=" + strings.Join(unread, " -var-file=")
	return hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "Variables file not read",
		Detail: fmt.Sprintf("Stacks take no values from files by themselves, whatever their name. Not read: %s. If the values are meant, give %s, or set %s.",
			strings.Join(unread, ", "), options, variableFilesVariable),
	}}
}

func isSameFile(a, b string) bool {
	if a == "" {
		return false
	}
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func (r *variableReader) environment() {
	for _, prefix := range variablePrefixes {
		for name, declared := range r.declared {
			text, ok := os.LookupEnv(prefix + name)
			if !ok {
				continue
			}
			value, diags := r.session.parseVariable(declared, text, "environment variable "+prefix+name)
			delete(r.given.values, name)
			delete(r.fromEnv, name)
			if len(diags) > 0 {
				r.fromEnv[name] = diags
			}
			if !diags.HasErrors() {
				r.given.values[name] = value
			}
		}
	}
}

func (r *variableReader) argument(text string) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		r.diags = r.diags.Append(problem("Wrong -var option", "The option -var=%s gives no value. Write -var=NAME=VALUE.", text))
		return
	}
	declared := r.declared[name]
	if declared == nil {
		r.diags = r.diags.Append(problem("Value for undeclared variable",
			"The option -var gives a value for %q, but the configuration declares no variable of that name.%s To declare it, add a block: "+
				"variable %[1]q { type = string }.", name, didYouMean(name, slices.Collect(maps.Keys(r.declared)), "")))
		return
	}
	parsed, diags := r.session.parseVariable(declared, value, "option -var="+name)
	r.set(name, parsed, diags)
}

func (r *variableReader) set(name string, value cty.Value, diags hcl.Diagnostics) {
	delete(r.fromEnv, name)
	r.diags = r.diags.Extend(diags)
	if !diags.HasErrors() {
		r.given.set(name, value)
	}
}

func (r *variableReader) file(path string) {
	attrs, diags := r.session.readVariablesFile(path)
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
		if isSecret(declared) || strings.HasSuffix(path, ".json") && anySecret(r.declared) { // JSON may have it all on one line
			diags = inSecret(diags)
		}
		r.set(name, value, diags)
		if !diags.HasErrors() && !value.IsWhollyKnown() {
			r.given.unknown[name] = attr.Expr.Range()
		}
	}
	for _, attr := range undeclared {
		diags := hcl.Diagnostics{{
			Severity: hcl.DiagWarning,
			Summary:  "Value for undeclared variable",
			Detail: fmt.Sprintf("The configuration declares no variable %q, so this value is not used.%s", attr.Name,
				didYouMean(attr.Name, slices.Collect(maps.Keys(r.declared)), "")),
			Subject: attr.NameRange.Ptr(),
		}}
		if anySecret(r.declared) { // it may be one whose name is misspelt
			diags = inSecret(diags)
		}
		r.diags = r.diags.Extend(diags)
	}
}

// readVariablesFile returns the arguments of a file with values of variables.
func (s *session) readVariablesFile(path string) (hcl.Attributes, hcl.Diagnostics) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hcl.Diagnostics{problem("Variables file not found", "There is no file %s, which -var-file names.", path)}
	}
	if err != nil {
		return nil, hcl.Diagnostics{problem("Variables file cannot be read", "The file that -var-file names cannot be read: %s.", reason(err))}
	}
	name := filepath.ToSlash(path)
	var file *hcl.File
	var diags hcl.Diagnostics
	if strings.HasSuffix(path, ".json") {
		file, diags = safehcl.ParseJSON(src, name)
	} else {
		file, diags = safehcl.ParseConfig(src, name, hcl.InitialPos)
	}
	if file == nil {
		return nil, diags
	}
	s.files[name] = file
	if diags.HasErrors() {
		return nil, diags
	}
	return file.Body.JustAttributes()
}

// parseVariable reads a value written as text: as it stands for variables of a primitive type, as an expression for
// others. The origin stands for a file name in diagnostics.
func (s *session) parseVariable(declared *stackconfig.InputVariable, text, origin string) (cty.Value, hcl.Diagnostics) {
	value, diags := s.parseOpenVariable(declared, text, origin)
	if isSecret(declared) {
		diags = inSecret(diags)
	}
	return value, diags
}

// parseOpenVariable is parseVariable for values that may be shown.
func (s *session) parseOpenVariable(declared *stackconfig.InputVariable, text, origin string) (cty.Value, hcl.Diagnostics) {
	src := []byte(text)
	s.files[origin] = &hcl.File{Bytes: src}
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

func isSecret(declared *stackconfig.InputVariable) bool {
	return declared.Sensitive || declared.Ephemeral
}

func anySecret(declared map[string]*stackconfig.InputVariable) bool {
	for _, variable := range declared {
		if isSecret(variable) {
			return true
		}
	}
	return false
}

// convertVariable gives a value the declared type.
func convertVariable(declared *stackconfig.InputVariable, value cty.Value, rng hcl.Range, diags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	if value.IsNull() {
		return cty.NullVal(declared.Type.WithoutOptional()), diags
	}
	if declared.Type.Defaults != nil {
		value = declared.Type.Defaults.Apply(value)
	}
	converted, err := convert.Convert(value, declared.Type.Constraint)
	if err != nil {
		return cty.NilVal, diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Value does not fit the variable",
			Detail: fmt.Sprintf("This value is not suitable for var.%s, declared at %s: %s.",
				declared.Name, declared.Range, describeConversion(err, isSecret(declared))),
			Subject: rng.Ptr(),
		})
	}
	return converted, diags
}

// describeConversion says what is wrong, and where inside the value. Of a secret one, no key is told.
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

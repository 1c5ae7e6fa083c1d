// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// format is how values are written.
type format string

const (
	formatHCL  format = "hcl"
	formatJSON format = "json"
	formatEnv  format = "env"
	formatYAML format = "yaml"
)

// parse reads values. An error is a clause with a line, and has nothing of the content but names of
// variables (rule V2).
func parse(content []byte, written format) (map[string]cty.Value, error) {
	if !utf8.Valid(content) {
		return nil, errors.New("it is not text in UTF-8")
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	switch written {
	case formatHCL:
		return parseHCL(content)
	case formatJSON:
		return parseJSON(content)
	case formatEnv:
		return parseEnv(content)
	case formatYAML:
		return nil, errors.New("YAML is read only if it is encrypted with sops; write it as JSON, or as NAME=VALUE")
	}
	return nil, fmt.Errorf("there is no format %q", written)
}

// parseHCL reads a file as terraform's files of variables are.
func parseHCL(content []byte) (map[string]cty.Value, error) {
	file, diags := safehcl.ParseConfig(content, "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, hclError(diags)
	}
	attrs, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return nil, hclError(diags)
	}
	values := map[string]cty.Value{}
	for name, attr := range attrs {
		value, diags := hclsource.Constant(attr.Expr)
		if diags.HasErrors() {
			return nil, fmt.Errorf("line %d: the value of %q is not a constant, written out without references and calculations",
				attr.Range.Start.Line, name)
		}
		values[name] = value
	}
	return values, nil
}

// hclError returns an error with the place and the kind of a mistake in a file. The details of
// errors of HCL quote from the file.
func hclError(diags hcl.Diagnostics) error {
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError && diag.Subject != nil {
			return fmt.Errorf("line %d: it is not written as a list of NAME = VALUE in HCL", diag.Subject.Start.Line)
		}
	}
	return errors.New("it is not written as a list of NAME = VALUE in HCL")
}

// parseJSON reads an object. Its texts are no templates (rule V3).
func parseJSON(content []byte) (map[string]cty.Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d: it is not JSON", lineAt(content, syntax.Offset))
		}
		return nil, errors.New("it is not a JSON object, with names and values")
	}
	if _, err := decoder.Token(); object == nil || !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not one JSON object, with names and values")
	}
	values := map[string]cty.Value{}
	for name, decoded := range object {
		value, err := valueOf(decoded, 1)
		if err != nil {
			return nil, fmt.Errorf("the value of %q: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

func lineAt(content []byte, offset int64) int {
	return bytes.Count(content[:min(int(offset), len(content))], []byte("\n")) + 1
}

// valueOf makes a value of one decoded from JSON.
func valueOf(decoded any, depth int) (cty.Value, error) {
	if depth > safehcl.MaxDepth {
		return cty.NilVal, fmt.Errorf("it is nested more than %d deep", safehcl.MaxDepth)
	}
	switch decoded := decoded.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case string:
		return cty.StringVal(decoded), nil
	case bool:
		return cty.BoolVal(decoded), nil
	case json.Number:
		return numberOf(decoded.String())
	case []any:
		elements := make([]cty.Value, len(decoded))
		for i, element := range decoded {
			value, err := valueOf(element, depth+1)
			if err != nil {
				return cty.NilVal, err
			}
			elements[i] = value
		}
		return cty.TupleVal(elements), nil
	case map[string]any:
		attributes := make(map[string]cty.Value, len(decoded))
		for name, attribute := range decoded {
			value, err := valueOf(attribute, depth+1)
			if err != nil {
				return cty.NilVal, err
			}
			attributes[name] = value
		}
		return cty.ObjectVal(attributes), nil
	}
	return cty.NilVal, errors.New("it has a type that values do not have")
}

func numberOf(text string) (cty.Value, error) {
	if len(text) > safehcl.MaxDigits {
		return cty.NilVal, fmt.Errorf("the number has more than %d digits", safehcl.MaxDigits)
	}
	value, err := cty.ParseNumberVal(text)
	if err != nil || hclsource.TooLarge(value) {
		return cty.NilVal, errors.New("the number is too large or too small")
	}
	return value, nil
}

// envName is that of a variable in a dotenv file.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// parseEnv reads lines NAME=VALUE, as they are common to programs that read such files: "export"
// may stand before a name; a value may be in single quotes, in which all is as it is, or in double
// quotes, in which \n, \t, \r, \", \\ and \$ are escapes; in quotes it may have several lines;
// without them it ends before a space with a #. Nothing refers to other variables.
func parseEnv(content []byte) (map[string]cty.Value, error) {
	values := map[string]cty.Value{}
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	for line := 1; text != ""; {
		start := line
		trimmed := strings.TrimLeft(text, " \t")
		if rest, ok := strings.CutPrefix(trimmed, "export "); ok {
			trimmed = strings.TrimLeft(rest, " \t")
		}
		first, after, _ := strings.Cut(trimmed, "\n")
		if first = strings.TrimSpace(first); first == "" || first[0] == '#' {
			text, line = after, line+1
			continue
		}
		name, rest, found := strings.Cut(trimmed, "=")
		name = strings.TrimSpace(name)
		if !found || !envName.MatchString(name) {
			return nil, fmt.Errorf("line %d: it is not NAME=VALUE", start)
		}
		value, after, err := envValue(strings.TrimLeft(rest, " \t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: the value of %q %w", start, name, err)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("line %d: there is a second value of %q", start, name)
		}
		values[name] = cty.StringVal(value)
		line += strings.Count(trimmed[:len(trimmed)-len(after)], "\n")
		text = after
	}
	return values, nil
}

// envValue takes a value from the beginning of a text, and returns the text after its line.
func envValue(text string) (value, after string, err error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, after, _ = strings.Cut(text, "\n")
		if i := strings.Index(value, " #"); i >= 0 {
			value = value[:i]
		}
		if strings.HasPrefix(value, "#") {
			value = ""
		}
		return strings.TrimSpace(value), after, nil
	}
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch char := text[i]; {
		case char == quote:
			rest, after, _ := strings.Cut(text[i+1:], "\n")
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				return "", "", errors.New("goes on after its closing quote")
			}
			return b.String(), after, nil
		case char == '\\' && quote == '"' && i+1 < len(text):
			i++
			b.WriteString(unescaped(text[i]))
		default:
			b.WriteByte(char)
		}
	}
	return "", "", errors.New("has no closing quote")
}

func unescaped(char byte) string {
	switch char {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(char)
	}
	return "\\" + string(char)
}

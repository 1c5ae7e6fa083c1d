// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/order"
)

// writer writes a workspace file.
type writer struct {
	*Result
	file   *hclwrite.File
	blocks int
}

func newWriter() *writer {
	return &writer{Result: &Result{origins: map[string]order.Place{}}, file: hclwrite.NewEmptyFile()}
}

// result returns the written file and its losses.
func (w *writer) result() Result {
	w.Files = []File{{cairnfile.FileName, hclwrite.Format(w.file.Bytes())}}
	return *w.Result
}

// block is one of a workspace file.
type block struct {
	*writer
	body *hclwrite.Body
	name string
	at   order.Place // the original that it is written from
}

// comment writes lines at the head of the file.
func (w *writer) comment(lines ...string) {
	var tokens hclwrite.Tokens
	for _, line := range lines {
		text := strings.TrimRight("# "+line, " ") + "\n"
		tokens = append(tokens, &hclwrite.Token{Type: hclsyntax.TokenComment, Bytes: []byte(text)})
	}
	w.file.Body().AppendUnstructuredTokens(tokens)
	w.file.Body().AppendNewline()
}

// settings adds the block about the whole file.
func (w *writer) settings() block {
	w.blocks++
	return block{w, w.file.Body().AppendNewBlock("workspace", nil).Body(), "", order.Place{}}
}

func (w *writer) block(kind cairnfile.Type, name string, at order.Place) block {
	if w.blocks++; w.blocks > 1 {
		w.file.Body().AppendNewline()
	}
	w.origins[name] = at
	return block{w, w.file.Body().AppendNewBlock(string(kind), []string{name}).Body(), name, at}
}

// string returns a value, and reports a text that is another one in HCL, which composes characters.
func (b block) string(attribute, text string) cty.Value {
	value := cty.StringVal(strings.ToValidUTF8(text, "\uFFFD"))
	if value.AsString() != text {
		b.lose(b.at, "A text in %s of %s is written with other bytes, as HCL composes characters: %q", attribute, b.name, text)
	}
	return value
}

func (b block) text(name, value string) {
	if value != "" {
		b.body.SetAttributeValue(name, b.string(name, value))
	}
}

func (b block) list(name string, values []string) {
	if len(values) > 0 {
		b.emptyList(name, values)
	}
}

// emptyList writes the list also if it is empty.
func (b block) emptyList(name string, values []string) {
	elements := make([]cty.Value, len(values))
	for i, value := range values {
		elements[i] = b.string(name, value)
	}
	b.body.SetAttributeValue(name, cty.TupleVal(elements))
}

// command writes a line for the shell. There is none with a zero byte, and a blank one does
// nothing.
func (b block) command(line string) {
	if strings.Contains(line, "\x00") {
		b.lose(b.at, "The zero bytes in the command of %s, which no command can have", b.name)
		line = strings.ReplaceAll(line, "\x00", "")
	}
	if strings.TrimSpace(line) == "" {
		line = ":"
	}
	b.text("command", line)
}

// texts writes an object of variables. Two keys that are one in HCL, which composes characters,
// cannot both be there.
func (b block) texts(name string, values map[string]string) {
	var object []hclwrite.ObjectAttrTokens
	taken := map[string]bool{}
	for _, text := range slices.Sorted(maps.Keys(values)) {
		if text == "" || strings.ContainsAny(text, "=\x00") || strings.Contains(values[text], "\x00") {
			b.lose(b.at, "The variable %q of %s, which cannot be in an environment", text, b.name)
			continue
		}
		key := b.string(name, text)
		if taken[key.AsString()] {
			b.lose(b.at, "The entry %q in %s of %s, which has another one that HCL takes for the same", text, name, b.name)
			continue
		}
		taken[key.AsString()] = true
		tokens := hclwrite.TokensForValue(key)
		if word := key.AsString(); hclsyntax.ValidIdentifier(word) && word != "for" { // with which an expression would begin
			tokens = hclwrite.TokensForIdentifier(word)
		}
		object = append(object, hclwrite.ObjectAttrTokens{Name: tokens, Value: hclwrite.TokensForValue(b.string(name, values[text]))})
	}
	if len(object) > 0 {
		b.body.SetAttributeRaw(name, hclwrite.TokensForObject(object))
	}
}

func (b block) number(name string, value float64) {
	b.body.SetAttributeValue(name, cty.NumberFloatVal(value))
}

func (b block) boolean(name string, value *bool) {
	if value != nil {
		b.body.SetAttributeValue(name, cty.BoolVal(*value))
	}
}

// environment writes variables of an environment, as variables of the configuration where they are.
func (b block) environment(values map[string]string) {
	variables, environment := map[string]string{}, map[string]string{}
	for name, value := range values {
		if variable, ok := strings.CutPrefix(name, variablePrefix); ok && variable != "" {
			variables[variable] = value
		} else {
			environment[name] = value
		}
	}
	b.texts("variables", variables)
	b.texts("environment", environment)
}

// variablePrefix is that of variables of the environment which are variables of a configuration.
const variablePrefix = "TF_VAR_"

// names gives unique names that a workspace file allows.
type names map[string]bool

var (
	notInName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

// add returns the wish, or the nearest name to it that is free.
func (n names) add(wish string) string {
	wish = strings.TrimLeft(notInName.ReplaceAllString(wish, "-"), ".-")
	if wish == "" {
		wish = "root"
	}
	name := wish
	for i := 2; n[name]; i++ {
		name = wish + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// ofDir is the name that is wished for a directory.
func ofDir(dir string) string {
	return strings.ReplaceAll(strings.Trim(path.Clean(dir), "/."), "/", ".")
}

// name gives a name and reports if it is not the one that was wanted.
func (w *writer) name(taken names, what, wish string, at order.Place) string {
	name := taken.add(wish)
	if name != wish {
		w.lose(at, "The name of the %s %q, which is called %q", what, wish, name)
	}
	return name
}

// nameOfDir gives the name of a directory. That of the root is no loss.
func (w *writer) nameOfDir(taken names, what, dir string, at order.Place) string {
	if wish := ofDir(dir); wish != "" {
		return w.name(taken, what, wish, at)
	}
	return taken.add("root")
}

// writable reports whether a workspace file can name a path.
func writable(file string) bool {
	return utf8.ValidString(file) && cty.NormalizeString(file) == file && !strings.ContainsAny(file, "\\\x00")
}

var classes = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]")

// watching returns patterns for a file, or everything in a directory.
func watching(file string) []string {
	if !glob.HasMeta(file) {
		return []string{file}
	}
	pattern := classes.Replace(file)
	return []string{pattern, pattern + "/**"}
}

// unique removes repetitions.
func unique(list []string) []string {
	var once []string
	for _, text := range list {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	return once
}

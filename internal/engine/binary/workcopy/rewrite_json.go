// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// jsonRewriter changes one file in JSON syntax without touching its layout.
type jsonRewriter struct {
	*rewriter
	source  []byte
	decoder *json.Decoder
	inRoot  bool

	edits   []edit
	removed []property

	variables int // properties of the variable object
	latchedIn int // those of them that were removed
}

// property is a property of an object, by the bytes of its name and value.
type property struct {
	kind, name        string
	start, value, end int
}

// json rewrites a file in JSON syntax, as native does with the other.
func (r *rewriter) json(file *module.File, inRoot bool) (outer, inner *edited, err error) {
	j := &jsonRewriter{rewriter: r, source: file.Source, inRoot: inRoot}
	j.decoder = json.NewDecoder(bytes.NewReader(file.Source))
	if _, _, err := j.walk(nil, true); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file.Display, err)
	}
	root := slices.Clone(file.Source)
	var moved []property
	for _, p := range j.removed {
		removeProperty(root, p.start, p.end)
		if p.kind == "variable" {
			moved = append(moved, p)
		}
	}
	outer = newEdited(file.Display, file.Source, root, j.edits)
	if len(moved) > 0 {
		inner = &edited{original: file.Source, display: file.Display, content: r.movedJSON(file.Source, moved)}
	}
	return outer, inner, nil
}

// removeProperty blanks a property and one of the commas around it.
func removeProperty(source []byte, start, end int) {
	blank(source[start:end])
	for i := end; i < len(source); i++ {
		if source[i] == ',' {
			source[i] = ' '
			return
		}
		if !isSpace(source[i]) {
			break
		}
	}
	for i := start - 1; i >= 0; i-- {
		if source[i] == ',' {
			source[i] = ' '
			return
		}
		if !isSpace(source[i]) {
			return
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// movedJSON puts variables in a file of their own, on the lines that they had.
func (r *rewriter) movedJSON(source []byte, variables []property) []byte {
	var out bytes.Buffer
	out.WriteString(`{"variable": {`)
	line := 1
	for i, p := range variables {
		if i > 0 {
			out.WriteByte(',')
		}
		for ; line < positionOf(source, p.start).Line; line++ {
			out.WriteByte('\n')
		}
		text := r.withoutForeignValidations(p.name, source[p.value:p.end])
		fmt.Fprintf(&out, "%q: %s", p.name, text)
		line += bytes.Count(text, []byte("\n"))
	}
	out.WriteString("}}\n")
	return out.Bytes()
}

// withoutForeignValidations drops the rules of a variable that refer to more than itself, and notes
// them.
func (r *rewriter) withoutForeignValidations(name string, text []byte) []byte {
	var variable map[string]json.RawMessage
	if json.Unmarshal(text, &variable) != nil || variable["validation"] == nil {
		return text
	}
	var rules []map[string]string
	if json.Unmarshal(variable["validation"], &rules) != nil {
		rules = make([]map[string]string, 1)
		if json.Unmarshal(variable["validation"], &rules[0]) != nil {
			return text
		}
	}
	var kept []map[string]string
	for _, rule := range rules {
		var texts []string
		own := true
		for _, key := range []string{"condition", "error_message"} {
			expr, diags := safehcl.ParseTemplate([]byte(rule[key]), "", hcl.InitialPos)
			if diags.HasErrors() {
				return text
			}
			w := walk(expr)
			own = own && !w.others && onlyVariable(w, name)
			edited := newEdited("", []byte(rule[key]), []byte(rule[key]), r.edits(w, true))
			texts = append(texts, string(edited.content))
		}
		if own {
			kept = append(kept, rule)
			continue
		}
		r.validations = append(r.validations, validation{name, texts[0], texts[1]})
	}
	if len(kept) == len(rules) {
		return text
	}
	delete(variable, "validation")
	if len(kept) > 0 {
		variable["validation"] = mustMarshal(kept)
	}
	return mustMarshal(variable)
}

// walk reads one value and returns its range. expressions is false inside of parts that move.
func (j *jsonRewriter) walk(path []string, expressions bool) (start, end int, err error) {
	start = j.next()
	token, err := j.decoder.Token()
	if err != nil {
		return 0, 0, err
	}
	switch token {
	case json.Delim('{'):
		for j.decoder.More() {
			if err := j.property(path, expressions); err != nil {
				return 0, 0, err
			}
		}
		_, err = j.decoder.Token()
	case json.Delim('['):
		for j.decoder.More() {
			if _, _, err := j.walk(path, expressions); err != nil {
				return 0, 0, err
			}
		}
		_, err = j.decoder.Token()
	default:
		if text, ok := token.(string); ok && expressions {
			j.text(path, text, start)
		}
	}
	return start, int(j.decoder.InputOffset()), err
}

// next returns where the next token starts.
func (j *jsonRewriter) next() int {
	at := int(j.decoder.InputOffset())
	for at < len(j.source) && (isSpace(j.source[at]) || j.source[at] == ',' || j.source[at] == ':') {
		at++
	}
	return at
}

func (j *jsonRewriter) property(path []string, expressions bool) error {
	start := j.next()
	token, err := j.decoder.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	remove := j.inRoot && len(path) == 1 &&
		(path[0] == "variable" && j.latched[name] || path[0] == "terraform" && slices.Contains(module.BackendBlocks, name))
	if expressions && !remove {
		j.text(nil, name, start)
	}
	value, end, err := j.walk(append(slices.Clone(path), name), expressions && !remove)
	if len(path) == 1 && path[0] == "variable" {
		j.variables++
	}
	if remove {
		j.removed = append(j.removed, property{path[0], name, start, value, end})
		if path[0] == "variable" {
			j.latchedIn++
		}
	}
	if len(path) == 0 && name == "variable" && j.latchedIn > 0 && j.latchedIn == j.variables {
		// Without a property it would be an error.
		j.removed = append(j.removed, property{"", name, start, value, end})
	}
	return err
}

// text rewrites a string, which may be a template.
func (j *jsonRewriter) text(path []string, text string, start int) {
	if !strings.Contains(text, "var") && !strings.Contains(text, "plantimestamp") && !strings.Contains(text, "abspath") {
		return
	}
	changed := text
	if name, ok := strings.CutPrefix(text, "var."); ok && slices.Contains(path, "depends_on") {
		if replaced, ok := j.replacement(name); ok && j.inRoot {
			changed = replaced
		}
	} else if expr, diags := safehcl.ParseTemplate([]byte(text), "", hcl.InitialPos); !diags.HasErrors() {
		edits := j.rewriter.edits(walk(expr), j.inRoot)
		changed = string(newEdited("", []byte(text), []byte(text), edits).content)
	}
	if changed != text {
		j.edits = append(j.edits, edit{start, int(j.decoder.InputOffset()), string(mustMarshal(changed))})
	}
}

// mustMarshal encodes a value whose encoding can't fail.
func mustMarshal(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding %T as JSON: %s", v, err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

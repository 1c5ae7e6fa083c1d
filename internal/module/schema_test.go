// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// blockCase is a type of block, with each argument and each block that it can have.
type blockCase struct {
	schema string // name of the variable with it, with the keyword where there are several
	text   string // a module in which %s stands for one of the parts
	parts  map[string]string

	tofu  bool // the module is for OpenTofu
	query bool // the text is that of a query file

	// open is set where other arguments are variables of a module, or belong to the schema of a
	// provider or provisioner.
	open bool
}

// Values in the parts are never the defaults.
var blockCases = map[string]blockCase{
	"file": {schema: "rootSchema", text: "%s", parts: map[string]string{
		"terraform":          "terraform {\n  required_version = \">= 1\"\n}",
		"language":           "language {}",
		"required_providers": "required_providers {\n}",
		"provider":           "provider \"fake\" {}",
		"variable":           "variable \"x\" {}",
		"locals":             "locals {\n  x = 1\n}",
		"output":             "output \"x\" {\n  value = 1\n}",
		"module":             "module \"x\" {\n  source = \"./c\"\n}",
		"resource":           "resource \"fake_x\" \"x\" {}",
		"data":               "data \"fake_x\" \"x\" {}",
		"ephemeral":          "ephemeral \"fake_x\" \"x\" {}",
		"action":             "action \"fake_x\" \"x\" {}",
		"check":              "check \"x\" {\n  assert {\n    condition = true\n    error_message = \"\"\n  }\n}",
		"moved":              "moved {\n  from = fake_x.a\n  to = fake_x.b\n}",
		"removed":            "removed {\n  from = fake_x.a\n}",
		"import":             "import {\n  to = fake_x.a\n  id = \"x\"\n}",
	}},
	"terraform": {schema: "terraformSchema", text: "terraform {\n%s\n}", parts: map[string]string{
		"required_version":   "required_version = \">= 1\"",
		"experiments":        "experiments = []",
		"language":           "language = TF2099",
		"backend":            "backend \"local\" {}",
		"cloud":              "cloud {}",
		"encryption":         "encryption {}",
		"state_store":        "state_store \"fake_dir\" {\n  provider \"fake\" {}\n}",
		"required_providers": "required_providers {\n  fake = {\n    source = \"a/fake\"\n  }\n}",
		"provider_meta":      "provider_meta \"fake\" {\n  x = 1\n}",
	}},
	"language": {schema: "languageSchema", tofu: true, text: "language {\n%s\n}", parts: map[string]string{
		"edition":         "edition = tofu2099",
		"experiments":     "experiments = []",
		"compatible_with": "compatible_with {\n  opentofu = \">= 1\"\n}",
	}},
	"compatible_with": {
		schema: "compatibleSchema", tofu: true, open: true, text: "language {\n  compatible_with {\n%s\n  }\n}",
		parts: map[string]string{"opentofu": "opentofu = \">= 1\""},
	},
	"variable": {schema: "variableSchema", text: "variable \"v\" {\n%s\n}", parts: map[string]string{
		"type":        "type = string",
		"default":     "default = 1",
		"description": "description = \"D\"",
		"sensitive":   "sensitive = true",
		"ephemeral":   "ephemeral = true",
		"nullable":    "nullable = false",
		"const":       "const = true",
		"deprecated":  "deprecated = \"D\"",
		"validation":  "validation {\n  condition = var.v == 1\n  error_message = \"\"\n}",
	}},
	"output": {schema: "outputSchema", text: "output \"o\" {\n%s\n}", parts: map[string]string{
		"value":         "value = 1",
		"type":          "type = string",
		"deprecated":    "deprecated = \"D\"",
		"description":   "description = \"D\"",
		"sensitive":     "sensitive = true",
		"ephemeral":     "ephemeral = true",
		"depends_on":    "depends_on = [fake_x.a]",
		"precondition":  "precondition {\n  condition = true\n  error_message = \"\"\n}",
		"postcondition": "postcondition {\n  condition = true\n  error_message = \"\"\n}",
	}},
	"condition": {schema: "conditionSchema", text: "output \"o\" {\n  value = 1\n  precondition {\n%s\n  }\n}", parts: map[string]string{
		"condition":     "condition = true",
		"error_message": "error_message = \"\"",
	}},
	"module": {schema: "callSchema", open: true, text: "module \"m\" {\n%s\n}", parts: map[string]string{
		"source":                     "source = \"./c\"",
		"version":                    "version = \"1\"",
		"count":                      "count = 1",
		"for_each":                   "for_each = { a = 1 }",
		"depends_on":                 "depends_on = [fake_x.a]",
		"providers":                  "providers = {\n  fake = fake\n}",
		"ignore_nested_deprecations": "ignore_nested_deprecations = true",
		"_":                          "_ {\n  x = 1\n}",
		"lifecycle":                  "lifecycle {}",
		"locals":                     "locals {}",
		"provider":                   "provider \"fake\" {}",
	}},
	"lifecycle of module": {
		schema: "callLifecycleSchema", tofu: true, text: "module \"m\" {\n  source = \"./c\"\n  lifecycle {\n%s\n  }\n}",
		parts: map[string]string{"enabled": "enabled = false"},
	},
	"resource": {
		schema: "resourceSchemas.resource", open: true, text: "resource \"fake_x\" \"x\" {\n%s\n}",
		parts: resourceParts("provisioner", "connection"),
	},
	"data": {schema: "resourceSchemas.data", open: true, text: "data \"fake_x\" \"x\" {\n%s\n}", parts: resourceParts()},
	"ephemeral": {
		schema: "resourceSchemas.ephemeral", open: true, text: "ephemeral \"fake_x\" \"x\" {\n%s\n}",
		parts: resourceParts("provisioner", "connection"),
	},
	"data in check": {
		schema: "resourceSchemas.data", open: true, parts: resourceParts(),
		text: "check \"c\" {\n  data \"fake_x\" \"x\" {\n%s\n  }\n  assert {\n    condition = true\n    error_message = \"\"\n  }\n}",
	},
	"lifecycle": {
		schema: "lifecycleSchema", text: "resource \"fake_x\" \"x\" {\n  lifecycle {\n%s\n  }\n}",
		parts: lifecycleParts,
	},
	"lifecycle of data": {schema: "lifecycleSchema", text: "data \"fake_x\" \"x\" {\n  lifecycle {\n%s\n  }\n}", parts: lifecycleParts},
	"lifecycle of ephemeral": {
		schema: "lifecycleSchema", text: "ephemeral \"fake_x\" \"x\" {\n  lifecycle {\n%s\n  }\n}",
		parts: lifecycleParts,
	},
	"action_trigger": {
		schema: "triggerSchema", text: "resource \"fake_x\" \"x\" {\n  lifecycle {\n    action_trigger {\n%s\n    }\n  }\n}",
		parts: map[string]string{
			"events":     "events = [before_create, before_create]",
			"condition":  "condition = false",
			"actions":    "actions = [action.fake_x.x]",
			"on_failure": "on_failure = taint",
		},
	},
	"action": {schema: "actionSchema", text: "action \"fake_x\" \"x\" {\n%s\n}", parts: map[string]string{
		"count":    "count = 1",
		"for_each": "for_each = { a = 1 }",
		"provider": "provider = fake.b",
		"config":   "config {\n  x = local.x\n}",
	}},
	"query file": {schema: "queryFileSchema", query: true, text: "%s", parts: map[string]string{
		"list":     "list \"fake_x\" \"x\" {\n  provider = fake.b\n}",
		"locals":   "locals {\n  x = 1\n}",
		"variable": "variable \"x\" {}",
		"provider": "provider \"fake\" {}",
	}},
	"list": {schema: "listSchema", query: true, text: "list \"fake_x\" \"x\" {\n%s\n}", parts: map[string]string{
		"count":            "provider = fake.b\ncount = 1",
		"for_each":         "provider = fake.b\nfor_each = { a = 1 }",
		"provider":         "provider = fake.b",
		"limit":            "provider = fake.b\nlimit = 1",
		"include_resource": "provider = fake.b\ninclude_resource = true",
		"config":           "provider = fake.b\nconfig {\n  x = local.x\n}",
	}},
	"provisioner": {
		schema: "provisionerSchema", open: true, text: "resource \"fake_x\" \"x\" {\n  provisioner \"local-exec\" {\n%s\n  }\n}",
		parts: map[string]string{
			"when":       "when = destroy",
			"on_failure": "on_failure = taint",
			"_":          "_ {\n  command = local.x\n}",
			"connection": "connection {}",
			"lifecycle":  "lifecycle {}",
		},
	},
	"connection": {
		schema: "connectionTypeSchema", open: true, text: "resource \"fake_x\" \"x\" {\n  connection {\n%s\n  }\n}",
		parts: map[string]string{"type": "type = \"winrm\""},
	},
	"check": {schema: "checkSchema", text: "check \"c\" {\n%s\n}", parts: map[string]string{
		"data":   "data \"fake_x\" \"x\" {}",
		"assert": "assert {\n  condition = true\n  error_message = \"\"\n}",
	}},
	"moved": {schema: "movedSchema", text: "moved {\n%s\n}", parts: map[string]string{
		"from": "from = fake_x.a",
		"to":   "to = fake_x.b",
	}},
	"removed": {schema: "removedSchema", text: "removed {\n%s\n}", parts: map[string]string{
		"from":        "from = fake_x.b",
		"lifecycle":   "from = fake_x.a\nlifecycle {\n  destroy = false\n}",
		"connection":  "from = fake_x.a\nconnection {}",
		"provisioner": "from = fake_x.a\nprovisioner \"local-exec\" {\n  when = destroy\n}",
	}},
	"lifecycle of removed": {
		schema: "removedLifecycleSchema", text: "removed {\n  from = fake_x.a\n  lifecycle {\n%s\n  }\n}",
		parts: map[string]string{"destroy": "destroy = false"},
	},
	"import": {schema: "importSchema", text: "import {\n%s\n}", parts: map[string]string{
		"to":       "to = fake_x.a",
		"id":       "to = fake_x.a\nid = \"x\"",
		"identity": "to = fake_x.a\nidentity = {}",
		"for_each": "to = fake_x.a\nid = \"x\"\nfor_each = { a = 1 }",
		"provider": "to = fake_x.a\nid = \"x\"\nprovider = fake",
	}},
}

// notBlocks are schemas of parts of blocks that have cases.
var notBlocks = []string{
	"resourceArguments", // of resourceSchemas
	"providerSchema",    // of blocks that are errors in modules of components
	"storeSchema",       // of a provider's schema
}

func resourceParts(more ...string) map[string]string {
	parts := map[string]string{
		"count":      "count = 1",
		"for_each":   "for_each = { a = 1 }",
		"provider":   "provider = fake.b",
		"depends_on": "depends_on = [fake_x.a]",
		"_":          "_ {\n  x = local.x\n}",
		"locals":     "locals {}",
		"lifecycle":  "lifecycle {\n  precondition {\n    condition = local.x\n    error_message = \"\"\n  }\n}",
	}
	for _, name := range more {
		parts[name] = map[string]string{"provisioner": "provisioner \"local-exec\" {}", "connection": "connection {}"}[name]
	}
	return parts
}

var lifecycleParts = map[string]string{
	"create_before_destroy": "create_before_destroy = true",
	"prevent_destroy":       "prevent_destroy = true",
	"ignore_changes":        "ignore_changes = all",
	"replace_triggered_by":  "replace_triggered_by = [fake_x.a]",
	"enabled":               "enabled = true",
	"destroy":               "destroy = false",
	"precondition":          "precondition {\n  condition = true\n  error_message = \"\"\n}",
	"postcondition":         "postcondition {\n  condition = true\n  error_message = \"\"\n}",
	"action_trigger":        "action_trigger {\n  events = [before_create]\n  actions = [action.fake_x.x]\n}",
}

// Each argument and each block that is accepted makes a difference, in both syntaxes: to the
// decoded block, or by a diagnostic. All others are errors.
func TestNothingIsDropped(t *testing.T) {
	schemas := map[string]*hcl.BodySchema{
		"rootSchema": rootSchema, "terraformSchema": terraformSchema, "variableSchema": variableSchema,
		"outputSchema": outputSchema, "conditionSchema": conditionSchema,
		"languageSchema": languageSchema, "compatibleSchema": compatibleSchema, "callLifecycleSchema": callLifecycleSchema,
		"callSchema": callSchema, "lifecycleSchema": lifecycleSchema, "triggerSchema": triggerSchema,
		"actionSchema": actionSchema, "provisionerSchema": provisionerSchema,
		"connectionTypeSchema": connectionTypeSchema, "checkSchema": checkSchema, "movedSchema": movedSchema,
		"removedSchema":          removedSchema,
		"removedLifecycleSchema": removedLifecycleSchema, "importSchema": importSchema,
		"queryFileSchema": queryFileSchema, "listSchema": listSchema,
	}
	for keyword, schema := range resourceSchemas {
		schemas["resourceSchemas."+keyword] = schema
	}
	tested := map[string]bool{}
	for name, c := range blockCases {
		tested[c.schema], tested[strings.Split(c.schema, ".")[0]] = true, true
		t.Run(name, func(t *testing.T) {
			schema := schemas[c.schema]
			arguments, blocks := argumentNames(schema), blockNames(schema)
			known := slices.Sorted(maps.Keys(arguments))
			known = append(known, slices.Sorted(maps.Keys(blocks))...)
			for _, part := range known {
				written, ok := c.parts[part]
				if !ok {
					t.Errorf("there is no case for %q", part)
					continue
				}
				// Without the lines of the part, the other parts that it needs are still there.
				lines := strings.Split(written, "\n")
				own := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, part+" ") })
				before := strings.Join(lines[:max(own, 0)], "\n")
				var native string
				for _, s := range syntaxes {
					without, with := c.decoded(t, s, before), c.decoded(t, s, written)
					if without == with {
						t.Errorf("%q makes no difference in %s", part, s.file)
					}
					if !s.json {
						native = with
					} else if !strings.Contains(with, "error: ") && with != native {
						t.Errorf("%q is another thing in %s: (-native +JSON)\n%s", part, s.file, cmp.Diff(native, with))
					}
				}
				wrong := part + " {}"
				if blocks[part] {
					wrong = part + " = 1"
				}
				for _, s := range syntaxes {
					if s.json && !blocks[part] {
						continue // an object is a value, too
					}
					without, got := c.decoded(t, s, ""), c.decoded(t, s, wrong)
					refused := strings.Contains(got, "error: ")
					if !c.open && !refused || c.schema == "callSchema" && !refused && got == without { // others are for a schema to judge
						t.Errorf("%q is accepted in %s", wrong, s.file)
					}
				}
			}
			for part := range c.parts {
				if !slices.Contains(known, part) {
					t.Errorf("there is a case for %q, which is not accepted", part)
				}
			}
			for _, unknown := range []string{"no_such_name = 1", "no_such_name {}"} {
				for _, s := range syntaxes {
					if got := c.decoded(t, s, unknown); !c.open && !strings.Contains(got, s.unsupported) {
						t.Errorf("%q is accepted in %s:\n%s", unknown, s.file, got)
					}
				}
			}
		})
	}
	for _, name := range schemaVariables(t) {
		if !tested[name] && !slices.Contains(notBlocks, name) {
			t.Errorf("there is no case with the schema %s", name)
		}
	}
}

// schemaVariables returns the variables of the package whose names say that they are schemas of
// blocks.
func schemaVariables(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 && mentionsSchema(spec.Values[0]) {
				names = append(names, spec.Names[0].Name)
			}
			_, inFunction := node.(*ast.FuncDecl)
			return !inFunction
		})
	}
	return names
}

func mentionsSchema(expr ast.Expr) bool {
	found := false
	ast.Inspect(expr, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok && (name.Name == "BodySchema" || name.Name == "schemaOf") {
			found = true
		}
		return !found
	})
	return found
}

// syntax is one of the two in which a module can be written.
type syntax struct {
	file        string
	json        bool
	unsupported string // the message about a name that no schema has
}

var syntaxes = []syntax{
	{file: "main.tf", unsupported: "error: Unsupported"},
	{file: "main.tf.json", json: true, unsupported: "error: Extraneous JSON object property"},
}

// decoded returns a decoded module with a part of the block, which has a module to call, as text.
// The part is given in the native syntax.
func (c blockCase) decoded(t *testing.T, s syntax, part string) string {
	t.Helper()
	text := fmt.Sprintf(c.text, part)
	if s.json {
		text = jsonOf(t, text)
	}
	dir := t.TempDir()
	name, files := s.file, map[string]string{"main.tf": "module \"called\" {\n  source = \"./d\"\n}\n", "d/c/main.tf": ""}
	if c.query {
		name = map[string]string{"main.tf": "q.tfquery.hcl", "main.tf.json": "q.tfquery.json"}[s.file]
		files["d/main.tf"] = "terraform {\n  required_providers {\n    fake = {\n      source = \"a/fake\"\n      " +
			"configuration_aliases = [fake.b]\n    }\n  }\n}\n"
	}
	files["d/"+name] = text
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loader := NewLoader(Options{Base: dir, Tofu: c.tofu})
	tree, diags := loader.LoadStrict(dir)
	child := tree.Root.Children["called"]
	if c.query {
		if tree, diags = loader.LoadStrict(filepath.Join(dir, "d")); diags.HasErrors() {
			t.Fatal(diags)
		}
		child, diags = loader.Query(tree)
	}
	var said strings.Builder
	for _, diag := range slices.Concat(diags, child.Unsupported) {
		kind := "error"
		if diag.Severity == hcl.DiagWarning {
			kind = "warning"
		}
		fmt.Fprintf(&said, "%s: %s: %s\n", kind, diag.Summary, diag.Detail)
	}
	source, err := fs.ReadFile(os.DirFS(dir), "d/"+name)
	if err != nil {
		t.Fatal(err)
	}
	w := writer{source: source}
	w.value(reflect.ValueOf(child.Directory), 0)
	return said.String() + w.text.String()
}

// withoutSyntax drops the characters of an expression in which the two syntaxes differ.
var withoutSyntax = strings.NewReplacer(`"`, "", "${", "", "{", "", "}", "", ":", "", "=", "", " ", "", "\n", "")

// writer writes values in such a way that two that mean the same have the same text.
type writer struct {
	source []byte
	text   strings.Builder
}

func (w *writer) value(v reflect.Value, depth int) {
	if !v.IsValid() || depth > 12 {
		w.text.WriteString("-")
		return
	}
	if v.CanInterface() {
		switch known := v.Interface().(type) {
		case hcl.Range, []*File, []hcl.Range: // places are no difference, but how many there are
			fmt.Fprintf(&w.text, "%T", known)
			if ranges, ok := known.([]hcl.Range); ok {
				fmt.Fprintf(&w.text, " %d", len(ranges))
			}
			return
		case hcl.Expression:
			if known != nil && !v.IsZero() {
				w.text.WriteString(withoutSyntax.Replace(string(known.Range().SliceBytes(w.source))))
			}
			return
		case hcl.Body:
			w.text.WriteString("body")
			return
		case cty.Value:
			w.text.WriteString(known.GoString())
			return
		case cty.Type:
			w.text.WriteString(known.GoString())
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		w.value(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "Dir" {
				w.text.WriteString(field.Name + ":")
				w.value(v.Field(i), depth+1)
				w.text.WriteString("\n")
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i), depth+1)
			w.text.WriteString(",")
		}
	case reflect.Map:
		var entries []string
		for it := v.MapRange(); it.Next(); {
			entry := writer{source: w.source}
			entry.value(it.Key(), depth+1)
			entry.text.WriteString("=")
			entry.value(it.Value(), depth+1)
			entries = append(entries, entry.text.String())
		}
		slices.Sort(entries)
		w.text.WriteString(strings.Join(entries, ";"))
	default:
		fmt.Fprintf(&w.text, "%v", v)
	}
}

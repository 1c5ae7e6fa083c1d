// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
	"github.com/cairnstacks/cairn/stackaddrs"
)

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveProvider()
		return
	}
	m.Run()
}

// module is a directory in which the engine runs.
type module struct {
	t      *testing.T
	engine *judge.Judge
	dir    string
}

// newModule returns an empty module. Its providers are the built-in one and this binary.
func newModule(t *testing.T) *module {
	t.Helper()
	engine := testenv.Engine(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plugins := t.TempDir()
	if err := os.Symlink(self, filepath.Join(plugins, "terraform-provider-shapes")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(plugins, "terraform.rc")
	rc := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"cairn/shapes\" = %q\n  }\n}\n", plugins)
	if err := os.WriteFile(config, []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	return &module{t: t, dir: dir, engine: judge.New(t, engine, dir, "TF_CLI_CONFIG_FILE="+config, serveEnv+"=1",
		"TF_LOG_SDK=ERROR", "TF_LOG_SDK_PROTO=ERROR", "TF_LOG_SDK_FRAMEWORK=ERROR")}
}

func (m *module) isTofu() bool { return strings.HasPrefix(filepath.Base(m.engine.ExecPath()), "tofu") }

// write replaces the module's files. Names may have a directory.
func (m *module) write(files map[string]string) {
	m.t.Helper()
	for name, content := range files {
		name = filepath.Join(m.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// init gets the modules that are called: the providers need no init.
func (m *module) init() {
	m.t.Helper()
	if err := m.engine.Get(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// plan makes a plan file and returns its name. It may be that of a plan that has failed.
func (m *module) plan(mayFail bool, options ...tfexec.PlanOption) string {
	m.t.Helper()
	out := filepath.Join(m.dir, "tfplan")
	if _, err := m.engine.Plan(m.t.Context(), slices.Concat([]tfexec.PlanOption{tfexec.Out(out)}, options)...); err != nil && !mayFail {
		m.t.Fatal(err)
	}
	return out
}

// apply applies the module as it is.
func (m *module) apply() {
	m.t.Helper()
	if err := m.engine.Apply(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// show returns the engine's own JSON form of a plan file.
func (m *module) show(planFile string) map[string]any {
	m.t.Helper()
	return decodeJSON(m.t, m.engine.ShowPlan(planFile)).(map[string]any)
}

// schemas returns a lookup of the providers' schemas.
func (m *module) schemas() func(stackaddrs.Provider, stackaddrs.ResourceMode, string) *valueschema.Schema {
	m.t.Helper()
	schemas, err := m.engine.ProvidersSchema(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return func(provider stackaddrs.Provider, mode stackaddrs.ResourceMode, typeName string) *valueschema.Schema {
		p := schemas.Schemas[provider.String()]
		if p == nil {
			return nil
		}
		schema := p.ResourceSchemas[typeName]
		if mode == stackaddrs.DataResource {
			schema = p.DataSourceSchemas[typeName]
		}
		if schema == nil {
			return nil
		}
		return valueschema.New(schema)
	}
}

func decodeJSON(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s in %s", err, data)
	}
	return v
}

// asJSON sends v through its JSON form.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decodeJSON(t, data)
}

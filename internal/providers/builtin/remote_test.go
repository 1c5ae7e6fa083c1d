// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

const storedState = `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","resources":[],
"outputs":{"a":{"value":"from the state","type":"string","sensitive":true},"l":{"value":["a"],"type":["list","string"]}}}`

// remote is a configuration of terraform_remote_state.
func remote(backend string, config map[string]cty.Value, more map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{
		"backend":   cty.StringVal(backend),
		"config":    obj(config),
		"defaults":  null,
		"outputs":   null,
		"workspace": noString,
	}
	for name, v := range more {
		attrs[name] = v
	}
	return obj(attrs)
}

func read(t *testing.T, p *builtin.Provider, config cty.Value) provider.ReadDataResponse {
	t.Helper()
	return p.ReadData(t.Context(), provider.ReadDataRequest{Type: "terraform_remote_state", Config: config})
}

func writeState(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(storedState), 0o600); err != nil {
		t.Fatal(err)
	}
}

var storedOutputs = map[string]cty.Value{"a": cty.StringVal("from the state"), "l": list}

func TestLocalState(t *testing.T) {
	dir := t.TempDir()
	writeState(t, filepath.Join(dir, "terraform.tfstate"))
	writeState(t, filepath.Join(dir, "other.tfstate"))
	writeState(t, filepath.Join(dir, "terraform.tfstate.d", "blue", "terraform.tfstate"))
	writeState(t, filepath.Join(dir, "spaces", "red", "terraform.tfstate"))
	p := builtin.New(builtin.Options{Dir: dir})
	workspace := func(name string) map[string]cty.Value { return map[string]cty.Value{"workspace": cty.StringVal(name)} }
	path := func(name string) map[string]cty.Value { return map[string]cty.Value{"path": cty.StringVal(name)} }
	with := map[string]cty.Value{"a": cty.StringVal("default"), "b": cty.True, "l": list}
	for name, test := range map[string]struct {
		config cty.Value
		want   map[string]cty.Value
	}{
		"without arguments": {remote("local", nil, nil), storedOutputs},
		"relative path":     {remote("local", path("other.tfstate"), nil), storedOutputs},
		"absolute path":     {remote("local", path(filepath.Join(dir, "other.tfstate")), nil), storedOutputs},
		"default workspace": {remote("local", path("other.tfstate"), workspace("default")), storedOutputs},
		"empty workspace":   {remote("local", path("other.tfstate"), workspace("")), storedOutputs},
		"workspace":         {remote("local", path("other.tfstate"), workspace("blue")), storedOutputs},
		"other directory": {
			remote("local", map[string]cty.Value{"workspace_dir": cty.StringVal("spaces"), "path": noString}, workspace("red")),
			storedOutputs,
		},
		"null for config": {remote("local", nil, map[string]cty.Value{"config": null}), storedOutputs},
		"defaults": {
			remote("local", nil, map[string]cty.Value{"defaults": obj(with)}),
			map[string]cty.Value{"a": cty.StringVal("from the state"), "b": cty.True, "l": list},
		},
	} {
		t.Run(name, func(t *testing.T) {
			resp := read(t, p, test.config)
			if resp.Diagnostics.HasErrors() {
				t.Fatalf("ReadData: %+v", resp.Diagnostics)
			}
			attrs := test.config.AsValueMap()
			attrs["outputs"] = obj(test.want)
			if want := obj(attrs); !resp.State.RawEquals(want) {
				t.Errorf("ReadData: got %#v, want %#v", resp.State, want)
			}
		})
	}
}

func TestRemoteStateErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken"), []byte("terraform {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := builtin.New(builtin.Options{Dir: dir})
	arg := func(name, value string) map[string]cty.Value {
		return map[string]cty.Value{name: cty.StringVal(value)}
	}
	for name, test := range map[string]struct {
		config        cty.Value
		summary, want string
		static        bool // found by validation, too
	}{
		"other backend": {
			remote("s3", arg("bucket", "b"), nil),
			"Invalid backend configuration",
			"Use terraform or tofu as the engine",
			true,
		},
		"unknown argument":  {remote("local", arg("pth", "x"), nil), "Invalid backend configuration", `"pth"`, true},
		"arguments in text": {remote("local", nil, map[string]cty.Value{"config": a}), "Invalid backend configuration", "an object", true},
		"defaults in text":  {remote("local", nil, map[string]cty.Value{"defaults": a}), "Invalid default values", "an object", true},
		"no state": {
			remote("local", nil, map[string]cty.Value{"defaults": obj(map[string]cty.Value{"a": a})}),
			"Stored state not found",
			"default",
			false,
		},
		"not a state": {remote("local", arg("path", "broken"), nil), "Stored state not readable", "not a state", false},
		"directory":   {remote("local", arg("path", "."), nil), "Stored state not readable", "directory", false},
		"workspaces of HTTP": {
			remote("http", arg("address", "http://127.0.0.1:1"), map[string]cty.Value{"workspace": a}),
			"Stored state not readable",
			"no other workspaces",
			false,
		},
		"no address": {remote("http", nil, nil), "Stored state not readable", "address is missing", false},
		"odd number": {remote("http", map[string]cty.Value{"address": a, "retry_max": a}, nil), "Stored state not readable", "retry_max", false},
	} {
		t.Run(name, func(t *testing.T) {
			diags := read(t, p, test.config).Diagnostics
			if len(diags) != 1 || diags[0].Summary != test.summary || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("ReadData: got %+v, want %q with %q", diags, test.summary, test.want)
			}
			static := p.ValidateResource(t.Context(), stackaddrs.DataResource, "terraform_remote_state", test.config)
			if static.HasErrors() != test.static {
				t.Errorf("ValidateResource: got %+v, want errors: %t", static, test.static)
			}
		})
	}
	unknown := remote("local", nil, map[string]cty.Value{"backend": later, "config": cty.UnknownVal(cty.DynamicPseudoType)})
	if diags := p.ValidateResource(t.Context(), stackaddrs.DataResource, "terraform_remote_state", unknown); len(diags) > 0 {
		t.Errorf("ValidateResource of what is unknown: %+v", diags)
	}
}

func TestStateOverHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch user, password, _ := r.BasicAuth(); {
		case r.URL.Path == "/none":
			http.NotFound(w, r)
		case r.URL.Path == "/empty":
			w.WriteHeader(http.StatusNoContent)
		case user != "u" || password != "p":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(storedState))
		}
	}))
	t.Cleanup(server.Close)
	p := builtin.New(builtin.Options{Environ: []string{"TF_HTTP_PASSWORD=p"}})
	for path, want := range map[string]string{"/state": "", "/none": "has no state", "/empty": "has no state"} {
		resp := read(t, p, remote("http", map[string]cty.Value{"address": cty.StringVal(server.URL + path), "username": cty.StringVal("u")}, nil))
		switch {
		case want != "" && (!resp.Diagnostics.HasErrors() || !strings.Contains(resp.Diagnostics[0].Detail, want)):
			t.Errorf("%s: got %+v, want %q", path, resp.Diagnostics, want)
		case want == "" && (resp.Diagnostics.HasErrors() || !resp.State.GetAttr("outputs").RawEquals(obj(storedOutputs))):
			t.Errorf("%s: got %#v, diagnostics %+v", path, resp.State, resp.Diagnostics)
		}
	}
	resp := read(t, p, remote("http", map[string]cty.Value{"address": cty.StringVal(server.URL + "/state")}, nil))
	if !resp.Diagnostics.HasErrors() || !strings.Contains(resp.Diagnostics[0].Detail, "401") {
		t.Errorf("without a user: got %+v", resp.Diagnostics)
	}
}

// As terraform 1.11.4 does it.
func TestMoveData(t *testing.T) {
	p := builtin.New(builtin.Options{})
	nullProvider := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"}
	move := func(source, json string) provider.MoveResponse {
		return p.Move(t.Context(), provider.MoveRequest{
			SourceProvider: nullProvider,
			SourceType:     source,
			SourceJSON:     []byte(json),
			TargetType:     "terraform_data",
		})
	}
	if got, want := move("null_resource", `{"id":"i","triggers":{"x":"1"}}`).Object, data(id, null, null,
		obj(map[string]cty.Value{"x": cty.StringVal("1")})); !got.RawEquals(want) {
		t.Errorf("Move: got %#v, want %#v", got, want)
	}
	if got, want := move("null_resource", `{"id":"i","triggers":null}`).Object, data(id, null, null, null); !got.RawEquals(want) {
		t.Errorf("Move: got %#v, want %#v", got, want)
	}
	for source, json := range map[string]string{"null_data": `{"id":"i"}`, "null_resource": `{"id"`} {
		if resp := move(source, json); !resp.Diagnostics.HasErrors() {
			t.Errorf("Move of %s %s: got %#v, want an error", source, json, resp.Object)
		}
	}
}

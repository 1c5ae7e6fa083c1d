// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
)

func text(value string) cty.Value { return cty.StringVal(value) }

// Arguments that a connection does not have get the defaults that terraform documents.
func TestConnectionDefaults(t *testing.T) {
	tests := map[string]struct {
		values map[string]cty.Value
		want   remote.Options
	}{
		"host only": {
			map[string]cty.Value{"host": text("h")},
			remote.Options{Endpoint: remote.Endpoint{Host: "h", Port: 22, User: "root"}, Timeout: 5 * time.Minute, Agent: "/agent"},
		},
		"bastion": {
			map[string]cty.Value{
				"host":             text("[::1]"),
				"port":             cty.NumberIntVal(2222),
				"user":             text("u"),
				"private_key":      text("k"),
				"host_key":         text("hk"),
				"certificate":      text("c"),
				"bastion_host":     text("b"),
				"bastion_password": text("p"),
				"timeout":          text("30s"),
				"agent":            cty.False,
			},
			remote.Options{
				Endpoint: remote.Endpoint{Host: "::1", Port: 2222, User: "u", PrivateKey: "k", HostKey: "hk", Certificate: "c"},
				Bastion:  &remote.Endpoint{Host: "b", Port: 2222, User: "u", Password: "p", PrivateKey: "k"},
				Timeout:  30 * time.Second,
			},
		},
		"proxy": {
			map[string]cty.Value{"host": text("h"), "proxy_host": text("p"), "proxy_user_name": text("u"), "agent_identity": text("i")},
			remote.Options{
				Endpoint: remote.Endpoint{Host: "h", Port: 22, User: "root"}, Proxy: &remote.Proxy{Scheme: "http", Host: "p", Port: 80, User: "u"},
				Timeout: 5 * time.Minute, Agent: "/agent", Identity: "i",
			},
		},
	}
	for name, test := range tests {
		c := &connection{values: test.values}
		if problem := c.read([]string{"SSH_AUTH_SOCK=/agent"}); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		if diff := cmp.Diff(test.want, c.options); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Paths are words of the shell of the other machine.
func TestTargetPlatform(t *testing.T) {
	unix, windows := &connection{values: map[string]cty.Value{}}, &connection{values: map[string]cty.Value{}, windows: true}
	for path, want := range map[string][2]string{
		"a b":  {`'a b'`, `"a b"`},
		"it's": {`'it'\''s'`, `"it's"`},
		"-v":   {`'./-v'`, `"./-v"`},
	} {
		if got := [2]string{unix.word(path), windows.word(path)}; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	for _, test := range []struct {
		c              *connection
		path           string
		before, behind string
	}{
		{unix, "", "/tmp/terraform_", ".sh"},
		{windows, "", "C:/windows/temp/terraform_", ".cmd"},
		{unix, "x%RAND%", "./x", ""},
		{windows, `C:\x\%RAND%.bat`, "C:/x/", ".bat"},
	} {
		if test.path != "" {
			test.c.values["script_path"] = text(test.path)
		}
		got := test.c.scriptTarget()
		if !strings.HasPrefix(got, test.before) || !strings.HasSuffix(got, test.behind) ||
			strings.Contains(got, "%") || got == test.c.scriptTarget() {
			t.Errorf("script_path %q: got %q, want one between %q and %q that is new each time", test.path, got, test.before, test.behind)
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/server/internal/cli"
)

func TestMistakes(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "server.db")
	tls := []string{"-tls-cert=c", "-tls-key=k", "-tls-client-ca=a"}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string // in the message
	}{
		{"no command", nil, 2, "a command is missing"},
		{"unknown command", []string{"serve"}, 2, `there is no command "serve"`},
		{"argument", []string{"dev", "x"}, 2, `dev takes no argument "x"`},
		{"unknown option", []string{"dev", "-x"}, 2, "flag provided but not defined: -x"},
		{"other addresses", []string{"dev", "-address=0.0.0.0:7233"}, 2, "without certificates, whoever reaches 0.0.0.0:7233 could run tasks"},
		{"all addresses", []string{"dev", "-address=:7233"}, 2, "or -insecure in a network that nobody else reaches"},
		{"address of the network", []string{"dev", "-address=[2001:db8::1]:7233"}, 2, "use -tls-cert, -tls-key and -tls-client-ca"},
		{"name as address", []string{"dev", "-address=temporal.internal:7233"}, 2, "is not an IP address and a port"},
		{"no port", []string{"dev", "-address=127.0.0.1"}, 2, "is not an IP address and a port"},
		{"some certificates", append([]string{"dev"}, tls[:2]...), 2, "-tls-cert, -tls-key and -tls-client-ca go together"},
		{"certificates without rules", append([]string{"dev"}, tls...), 2, "add -orchestrator=NAME and -allow=NAME:QUEUE"},
		{"certificates without workers", append([]string{"dev", "-orchestrator=o"}, tls...), 2, "add -orchestrator=NAME and -allow=NAME:QUEUE"},
		{"rules without certificates", []string{"dev", "-allow=w:cairn/prod"}, 2, "-allow and -orchestrator need certificates"},
		{"rule", []string{"dev", "-allow=w"}, 2, "is not of the form NAME:QUEUE"},
		{"port", []string{"dev", "-address=127.0.0.1:0"}, 2, "is not an IP address and a port"},
		{
			"files of certificates",
			append([]string{"dev", "-db=memory", "-address=" + freeAddress(t), "-orchestrator=o", "-allow=w:q"}, tls...),
			1, "reading the certificate of this server: open c",
		},
		{"retention", []string{"dev", "-retention=1m"}, 2, "-retention=1m0s is too short"},
		{"namespace", []string{"dev", "-namespace=a b"}, 2, "a namespace has letters, digits, dots"},
		{"namespace of Temporal", []string{"dev", "-namespace=temporal-system"}, 2, "does not begin with temporal-"},
		{"level", []string{"dev", "-log-level=loud"}, 2, "-log-level is not debug, info, warn or error"},
		{"folder", []string{"dev", "-db=" + missing}, 1, missing + " does not exist; create it first"},
		{"password in a URL", []string{"dev", "-db=postgres://u:hush@h:port/x"}, 1, "is not a URL of PostgreSQL"},
		{"URL without a database", []string{"dev", "-db=postgres://u:hush@h"}, 1, "write postgres://HOST/DATABASE"},
		{"option of a URL", []string{"dev", "-db=postgres://u:hush@h/x?sslmode=y"}, 1, "is not a URL of PostgreSQL"},
		{"nobody answers", []string{"dev", "-db=postgres://u:hush@127.0.0.1:1/x"}, 1, "connecting to the PostgreSQL database x at 127.0.0.1:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := cli.Run(t.Context(), test.args, &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
				t.Errorf("Run(%q): got code %d, %q and %q; want code %d, and on standard error %q",
					test.args, code, &stdout, &stderr, test.code, test.want)
			}
			if strings.Contains(stderr.String(), "hush") {
				t.Errorf("the message has the password: %s", &stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for command, want := range map[string]string{
		"help": "Usage: cairn-server COMMAND", "-h": "Usage: cairn-server COMMAND",
		"dev -h": "Usage: cairn-server dev", "version": "(Temporal 1.",
	} {
		var stdout, stderr bytes.Buffer
		code := cli.Run(t.Context(), strings.Fields(command), &stdout, &stderr)
		if code != 0 || !strings.Contains(stdout.String(), want) || stderr.Len() > 0 {
			t.Errorf("Run(%q): got code %d, %q and %q; want %q", command, code, &stdout, &stderr, want)
		}
	}
}

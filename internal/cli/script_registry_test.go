// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairnstacks/cairn/internal/providers/source/registrytest"
)

// registryCommand returns the command registry of scripts, which starts a registry that terraform
// and cairn find as example.com. It has the providers example.com/foo/bar 1.0.0 and 1.1.0 and
// example.com/foo/baz 2.0.0 for linux_amd64 and darwin_arm64, whose programs do nothing.
//
//   - registry: it is found by the CLI configuration
//   - registry token TOKEN: so, and demands a token
//   - registry proxy USER PASSWORD: it is reached through the proxy that $PROXY names, host and
//     port, which demands a password
func registryCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		server := startRegistry(t)
		ts.Setenv("SSL_CERT_FILE", server.CAFile(t))
		config := ts.Getenv("TF_CLI_CONFIG_FILE")
		services := fmt.Appendf(nil, "host \"example.com\" {\n  services = { \"providers.v1\" = \"https://%s/providers/\" }\n}\n", server.Host)
		switch {
		case len(args) == 3 && args[0] == "proxy":
			services = nil
			ts.Setenv("PROXY", startProxy(t, server.Host, args[1]+":"+args[2]))
		case len(args) == 2 && args[0] == "token":
			server.Demand("/providers/", args[1])
		case len(args) > 0:
			ts.Fatalf("unknown use of registry: %q", args)
		}
		ts.Check(os.WriteFile(config, services, 0o600))
	}
}

func startRegistry(t *testing.T) *registrytest.Server {
	server := registrytest.Start(t)
	for name, versions := range map[string][]string{"bar": {"1.0.0", "1.1.0"}, "baz": {"2.0.0"}} {
		for _, version := range versions {
			archives := map[string][]byte{}
			for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
				archives[platform] = registrytest.Zip(t, registrytest.File{
					Name:    "terraform-provider-" + name + "_v" + version,
					Content: "#!/bin/sh\n# " + platform + "\n",
				})
			}
			server.Publish(t, registrytest.Release{Namespace: "foo", Type: name, Version: version, Archives: archives})
		}
	}
	return server
}

// startProxy starts a proxy through which a server is reached, by whatever name, and returns its
// address.
func startProxy(t *testing.T, server, user string) string {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != want {
			http.Error(w, r.Header.Get("Proxy-Authorization"), http.StatusProxyAuthRequired)
			return
		}
		there, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", server)
		if err != nil {
			http.Error(w, "unreachable", http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		go func() { // ends with the client
			_, _ = io.Copy(there, here)
			there.Close() //nolint:errcheck // a test's proxy
		}()
		_, _ = io.Copy(here, there)
		here.Close() //nolint:errcheck // a test's proxy
	}))
	t.Cleanup(proxy.Close)
	return strings.TrimPrefix(proxy.URL, "http://")
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/initdir"
)

// maxState is how large a state may be that is read over HTTP.
const maxState = 256 << 20

// readLocal reads a file. Workspaces other than the default one have theirs in a directory beside
// it.
func readLocal(_ context.Context, opts Options, args map[string]string, workspace string) ([]byte, error) {
	local := initdir.Dir{Path: opts.Dir}.Local(orDefault(args["path"], ""), orDefault(args["workspace_dir"], ""))
	text, err := os.ReadFile(local.Of(workspace))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

var httpArguments = []string{
	"address", "update_method", "lock_address", "unlock_address", "lock_method", "unlock_method", "username", "password",
	"skip_cert_verification", "retry_max", "retry_wait_min", "retry_wait_max",
	"client_ca_certificate_pem", "client_certificate_pem", "client_private_key_pem",
}

// readHTTP gets a state from an address. Settings that are not among the arguments come from the
// environment.
func readHTTP(ctx context.Context, opts Options, args map[string]string, workspace string) ([]byte, error) {
	if workspace != initdir.DefaultWorkspace {
		return nil, errWorkspace
	}
	get := func(name string) string {
		return orDefault(args[name], environ.Get(opts.Environ, "TF_HTTP_"+strings.ToUpper(name)))
	}
	address := get("address")
	if address == "" {
		return nil, errors.New("the argument address is missing")
	}
	client, err := httpClient(get)
	if err != nil {
		return nil, err
	}
	defer client.HTTPClient.CloseIdleConnections()
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if user := get("username"); user != "" {
		request.SetBasicAuth(user, get("password"))
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	switch response.StatusCode {
	case http.StatusOK:
		return readLimited(response.Body)
	case http.StatusNoContent, http.StatusNotFound:
		return nil, nil
	default:
		return nil, fmt.Errorf("the server answers with status %s", response.Status)
	}
}

func readLimited(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxState+1))
	if err == nil && len(text) > maxState {
		err = fmt.Errorf("it is larger than %d MiB", maxState>>20)
	}
	return text, err
}

// httpClient returns a client that tries again as often as the arguments say.
func httpClient(get func(string) string) (*retryablehttp.Client, error) {
	numbers := map[string]int{"retry_max": 2, "retry_wait_min": 1, "retry_wait_max": 30}
	for name := range numbers {
		text := get(name)
		if text == "" {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("the argument %s is %q, which is not a number of tries or of seconds", name, text)
		}
		numbers[name] = number
	}
	security, err := tlsConfig(get)
	if err != nil {
		return nil, err
	}
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = numbers["retry_max"]
	client.RetryWaitMin = time.Duration(numbers["retry_wait_min"]) * time.Second
	client.RetryWaitMax = time.Duration(numbers["retry_wait_max"]) * time.Second
	client.HTTPClient.Transport.(*http.Transport).TLSClientConfig = security
	return client, nil
}

func tlsConfig(get func(string) string) (*tls.Config, error) {
	//nolint:gosec // as the configuration says
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: get("skip_cert_verification") == "true"}
	if authority := get("client_ca_certificate_pem"); authority != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(authority)) {
			return nil, errors.New("the argument client_ca_certificate_pem has no certificate")
		}
	}
	if certificate := get("client_certificate_pem"); certificate != "" {
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(get("client_private_key_pem")))
		if err != nil {
			return nil, fmt.Errorf("the certificate of the client: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

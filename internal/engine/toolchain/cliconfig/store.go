// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cliconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	svchost "github.com/hashicorp/terraform-svchost"
)

// tokensFile is the file in the directory of the configuration for tokens that programs store.
const tokensFile = "credentials.tfrc.json"

// StoreToken stores the token of a host where the engine would: by the credentials helper if one is
// configured, else in a file that only the user can read. A token that is in that file already is
// replaced there.
//
// Errors: also for a host whose token is in another file, which its user has written, and if there
// is no directory for the file.
func StoreToken(ctx context.Context, environ []string, host svchost.Hostname, token string) error {
	config, err := ReadHosts(environ)
	if err != nil {
		return err
	}
	dir := Dir(environ)
	path := filepath.Join(dir, tokensFile)
	if other := config.written[host]; other != "" && other != path {
		return fmt.Errorf("the token of %s is in %s, which is not changed: remove its credentials block there", host.ForDisplay(), other)
	}
	if dir == "" {
		return errors.New("there is no home directory for tokens")
	}
	stored, err := readTokens(path)
	if err != nil {
		return fmt.Errorf("the file for tokens %s cannot be used: %w", path, err)
	}
	if config.Helper != nil && !stored.has(host) {
		return config.Helper.store(ctx, host, token)
	}
	stored.set(host, token)
	return stored.write(path)
}

// tokens is the content of the file. Other contents of it stay there.
type tokens map[string]json.RawMessage

func readTokens(path string) (tokens, error) {
	content := tokens{}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(src, &content); err != nil {
		return nil, errors.New("it is not a JSON object")
	}
	if _, err := content.hosts(); err != nil {
		return nil, errors.New("its credentials are not a JSON object")
	}
	return content, nil
}

func (t tokens) hosts() (hosts map[string]json.RawMessage, err error) {
	hosts = map[string]json.RawMessage{}
	if written := t["credentials"]; written != nil {
		err = json.Unmarshal(written, &hosts)
	}
	return hosts, err
}

// names returns how the file writes a host, which may be more than once.
func (t tokens) names(host svchost.Hostname) (names []string) {
	hosts, err := t.hosts()
	if err != nil {
		return nil
	}
	for name := range hosts {
		if written, err := svchost.ForComparison(name); err == nil && written == host {
			names = append(names, name)
		}
	}
	return names
}

func (t tokens) has(host svchost.Hostname) bool { return len(t.names(host)) > 0 }

func (t tokens) set(host svchost.Hostname, token string) {
	hosts, err := t.hosts()
	if err != nil || hosts == nil {
		hosts = map[string]json.RawMessage{}
	}
	for _, name := range t.names(host) {
		delete(hosts, name)
	}
	hosts[host.ForDisplay()] = encode(map[string]string{"token": token})
	t["credentials"] = encode(hosts)
}

// encode returns maps of text as JSON, which cannot fail.
func encode(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return encoded
}

// write replaces the file at once.
func (t tokens) write(path string) (err error) {
	encoded, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // which only the user can read
	if err != nil {
		return fmt.Errorf("the file for tokens cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("the file for tokens cannot be written: %w", err), os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(append(encoded, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

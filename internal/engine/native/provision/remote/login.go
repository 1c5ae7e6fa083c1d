// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bytes"
	"errors"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keys are those of an agent.
type keys struct {
	conn     net.Conn // nil without an agent
	agent    agent.ExtendedAgent
	identity string
	refused  error // why there is no agent
}

// openAgent connects with the agent, if there is one.
func openAgent(socket, identity string) *keys {
	k := &keys{identity: identity}
	if socket == "" {
		return k
	}
	if k.conn, k.refused = net.Dial("unix", socket); k.refused == nil { //nolint:noctx // a socket of this machine
		k.agent = agent.NewClient(k.conn)
	}
	return k
}

func (k *keys) close() {
	if k.conn != nil {
		hangUp(k.conn)
	}
}

// config returns how to log in to a machine.
//
// Errors: [*SettingsError].
func (k *keys) config(e *Endpoint) (*ssh.ClientConfig, error) {
	config := &ssh.ClientConfig{User: e.User}
	if err := checkHostKeys(config, e.HostKey); err != nil {
		return nil, err
	}
	own, err := e.signers()
	if err != nil {
		return nil, err
	}
	if k.refused != nil && len(own) == 0 && e.Password == "" {
		return nil, &SettingsError{"the agent cannot be used: " + k.refused.Error()}
	}
	if len(own) > 0 || k.agent != nil {
		config.Auth = append(config.Auth, ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return slices.Concat(own, k.signers()), nil }))
	}
	if e.Password != "" {
		answer := func(_, _ string, questions []string, _ []bool) ([]string, error) {
			return slices.Repeat([]string{e.Password}, len(questions)), nil
		}
		config.Auth = append(config.Auth, ssh.Password(e.Password), ssh.KeyboardInteractive(answer))
	}
	return config, nil
}

// signers returns the private key of a machine, with its certificate before it if there is one.
func (e *Endpoint) signers() ([]ssh.Signer, error) {
	if e.PrivateKey == "" {
		return nil, nil
	}
	signer, err := ssh.ParsePrivateKey([]byte(e.PrivateKey))
	if err != nil {
		if _, protected := errors.AsType[*ssh.PassphraseMissingError](err); protected {
			return nil, &SettingsError{"the private key is protected by a passphrase: decrypt it, or put it into an agent"}
		}
		return nil, &SettingsError{"the private key cannot be read: " + err.Error()}
	}
	if e.Certificate == "" {
		return []ssh.Signer{signer}, nil
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(e.Certificate))
	if err != nil {
		return nil, &SettingsError{"the certificate cannot be read: " + err.Error()}
	}
	certificate, ok := public.(*ssh.Certificate)
	if !ok {
		return nil, &SettingsError{"the certificate is a key without one"}
	}
	certified, err := ssh.NewCertSigner(certificate, signer)
	if err != nil {
		return nil, &SettingsError{"the certificate is not one of the private key: " + err.Error()}
	}
	return []ssh.Signer{certified, signer}, nil
}

// signers returns the keys of the agent. One that fails has none.
func (k *keys) signers() []ssh.Signer {
	if k.agent == nil {
		return nil
	}
	signers, err := k.agent.Signers()
	if err != nil || k.identity == "" {
		return signers
	}
	wanted := k.preferred()
	slices.SortStableFunc(signers, func(a, b ssh.Signer) int { return rank(a, wanted) - rank(b, wanted) })
	return signers
}

// preferred returns the public keys that the identity may stand for.
func (k *keys) preferred() [][]byte {
	var wanted [][]byte
	for _, text := range []string{k.identity, read(k.identity + ".pub"), read(k.identity)} {
		if public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
			wanted = append(wanted, public.Marshal())
		}
	}
	if listed, err := k.agent.List(); err == nil {
		for _, key := range listed {
			if key.Comment == k.identity {
				wanted = append(wanted, key.Blob)
			}
		}
	}
	return wanted
}

func read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}

func rank(signer ssh.Signer, wanted [][]byte) int {
	if slices.ContainsFunc(wanted, func(key []byte) bool { return bytes.Equal(key, signer.PublicKey().Marshal()) }) {
		return 0
	}
	return 1
}

// certified are the algorithms of host keys that an authority has signed.
var certified = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
}

// checkHostKeys has the host key checked (rule R2).
func checkHostKeys(config *ssh.ClientConfig, expected string) error {
	if strings.TrimSpace(expected) == "" {
		config.HostKeyCallback = ssh.InsecureIgnoreHostKey() //nolint:gosec // as documented for connections without a host key
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(expected))
	if err != nil {
		return &SettingsError{"the host key cannot be read: " + err.Error()}
	}
	checker := &ssh.CertChecker{
		IsHostAuthority: func(authority ssh.PublicKey, _ string) bool { return bytes.Equal(authority.Marshal(), key.Marshal()) },
		HostKeyFallback: ssh.FixedHostKey(key),
	}
	config.HostKeyCallback = checker.CheckHostKey
	own := []string{key.Type()}
	if key.Type() == ssh.KeyAlgoRSA {
		own = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}
	}
	config.HostKeyAlgorithms = slices.Concat(certified, own)
	return nil
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// certificateVariable is where a provider finds the certificate of the program that has started it,
// from which alone it then takes calls. It answers with one of its own.
const certificateVariable = "PLUGIN_CLIENT_CERT"

// certificate is how this program proves to providers that it is the one that has started them.
type certificate struct {
	text string // in PEM
	pair tls.Certificate
}

// ownCertificate makes the certificate, whose key never leaves this program. There is one for all
// providers: go-plugin would make one for each process, on a curve that costs milliseconds of
// processor time on both sides.
var ownCertificate = sync.OnceValues(func() (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, // of calls back, too
		IsCA:        true, BasicConstraintsValid: true,                                          // providers trust it as their root
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &certificate{
		text: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
})

// serverName is the name in the certificates of providers.
const serverName = "localhost"

// config returns the settings of the connection to a provider that is being started, to which
// go-plugin adds the certificate of the provider.
func (c *certificate) config() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.pair}, MinVersion: tls.VersionTLS12, ServerName: serverName}
}

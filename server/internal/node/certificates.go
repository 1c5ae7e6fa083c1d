// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"time"

	"go.temporal.io/server/common/config"
)

// inside is the name of the services among themselves.
const inside = "inside.cairn-server.invalid"

// certificates has one certificate that signs itself, by which the services of this process know
// each other, on both ends of a connection. It is never written anywhere.
type certificates struct {
	pair        tls.Certificate
	certificate string // PEM
	key         string // PEM
}

func newCertificates() (*certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: inside},
		DNSNames:              []string{inside},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(10, 0, 0), // the life of a process
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	pair, err := tls.X509KeyPair(certificate, private)
	if err != nil {
		return nil, err
	}
	return &certificates{pair, string(certificate), string(private)}, nil
}

// client returns the configuration of a client of the services.
func (c *certificates) client() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(c.certificate))
	return &tls.Config{Certificates: []tls.Certificate{c.pair}, RootCAs: roots, ServerName: inside, MinVersion: tls.VersionTLS13}
}

// secure adds certificates to a configuration: those of files towards clients, those of c among the
// services.
func secure(cfg *config.Config, files *Secure, c *certificates) {
	certificate := base64.StdEncoding.EncodeToString([]byte(c.certificate))
	key := base64.StdEncoding.EncodeToString([]byte(c.key))
	cfg.Global.TLS = config.RootTLS{
		Frontend: config.GroupTLS{Server: config.ServerTLS{
			CertFile: files.Certificate, KeyFile: files.Key,
			ClientCAFiles: []string{files.ClientCA}, RequireClientAuth: true,
		}},
		Internode: config.GroupTLS{
			Server: config.ServerTLS{
				CertData: certificate, KeyData: key,
				ClientCAData: []string{certificate}, RequireClientAuth: true,
			},
			Client: config.ClientTLS{ServerName: inside, RootCAData: []string{certificate}},
		},
		RefreshInterval: time.Minute,
	}
}

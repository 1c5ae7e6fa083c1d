// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identitycmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/deployments/identity"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// published is the output of "identity jwks -json".
type published struct {
	FormatVersion string              `json:"format_version"`
	Issuer        string              `json:"issuer"`
	Documents     []publishedDocument `json:"documents"`
}

type publishedDocument struct {
	Path    string          `json:"path"` // below the URL of the issuer
	URL     string          `json:"url"`
	Content json.RawMessage `json:"content"`
}

func jwksCommand() *session.Command {
	var out, issuer string
	return &session.Command{
		Name:    "jwks",
		Summary: "Writes the documents that the issuer of tokens has to publish: its discovery document, and its public keys.",
		Long: `
Those who verify tokens that cairn has signed fetch two documents from below the URL of the issuer: the discovery
document of OpenID Connect, and the JSON Web Key Set that it names. Both are made of the identity "key" blocks of
cairn.hcl, with the public parts of their keys and of those that are retired. Serve them with any web server, by https.`,
		Example: "cairn identity jwks\ncairn identity jwks -out=public",
		Flags: func(f *session.Flags) {
			f.StringVar(&out, "out", "", "write the documents into this `DIR`, which is to be served as the URL of the issuer")
			f.StringVar(&issuer, "issuer", "", "`URL` of the issuer that is meant, where cairn.hcl has several")
			session.JSONFlag(f, "write a JSON document with both")
		},
		Run: func(_ context.Context, s *session.Session, _ []string) (int, error) {
			s.ReportDocuments()
			read, err := s.Stack().Env().Settings()
			if err != nil {
				return 0, err
			}
			issuer, documents, err := identity.Publish(read.Identity, s.Stack().Sources().Path("."), issuer)
			switch {
			case err != nil:
				return 0, err
			case out != "":
				err = writeAll(s, out, documents)
			}
			if err != nil || out != "" && !s.Options.JSON {
				return cmdline.ExitOK, err
			}
			return cmdline.ExitOK, show(s, issuer, documents)
		},
	}
}

func show(s *session.Session, issuer string, documents []identity.Document) error {
	shown := published{FormatVersion: document.FormatVersion, Issuer: issuer}
	for i, doc := range documents {
		location := issuer + "/" + doc.Path
		shown.Documents = append(shown.Documents, publishedDocument{doc.Path, location, doc.Content})
		if s.Options.JSON {
			continue
		}
		if i > 0 {
			s.Print("\n")
		}
		s.Line("%s:", location)
		s.Print("%s", doc.Content)
	}
	if !s.Options.JSON {
		return nil
	}
	return document.WriteDocument(s.Streams.Out, shown, true)
}

// writeAll writes documents into a directory. A program that reads one meanwhile gets the old one
// or the new one.
func writeAll(s *session.Session, dir string, documents []identity.Document) error {
	for _, doc := range documents {
		path := filepath.Join(dir, filepath.FromSlash(doc.Path))
		if err := writePublic(path, doc.Content); err != nil {
			return failure.Error("Documents not written", "The documents of the issuer could not be written to %s: %s.", path, safefile.Reason(err))
		}
		if !s.Options.JSON {
			s.Line("Written: %s", path)
		}
	}
	return nil
}

func writePublic(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is to be served
		return err
	}
	return safefile.Replace(path, content, 0o644)
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/clientfile"
)

// Document is a whole state as "state pull" and a failed apply write it, and "state push" reads it.
// It has no lineage if a client of the RPC API has kept it.
type Document struct {
	FormatVersion string            `json:"format_version"`
	Deployment    string            `json:"deployment"`
	Lineage       string            `json:"lineage"`
	Serial        int64             `json:"serial"`
	Records       map[string][]byte `json:"records"`

	// Secret is set if the state could not be saved: applies that it has begun are known by it.
	Secret []byte `json:"secret,omitempty"`
}

const documentVersion = "1.0"

// Document returns a state that was read as a document.
func (t *Stored) Document() Document {
	return Document{
		FormatVersion: documentVersion,
		Deployment:    t.Deployment,
		Lineage:       t.Lineage,
		Serial:        t.Serial,
		Records:       t.Records,
	}
}

// StateRecords returns the records of the state itself, without those about the plan that the last
// serial belongs to, which only cairn knows.
func (t *Stored) StateRecords() map[string][]byte {
	records := maps.Clone(t.Records)
	maps.DeleteFunc(records, func(key string, _ []byte) bool { return isProgressKey(key) })
	return records
}

// ParseDocument reads a document, packed and encrypted or not, or a state that a client of the RPC
// API has kept, and checks that its records can be understood. The name is that of its file in
// errors. One in clear is not refused: it is what somebody wants the state to be.
func ParseDocument(ctx context.Context, src []byte, name string, keys *encryption.Keyring) (*Document, error) {
	src, err := unpack(src)
	if err != nil {
		return nil, failure.Error("Not a whole state", "%s does not hold all of a state that was printed: %s. Copy it again, from the line "+
			"with BEGIN to that with END.",
			name, err)
	}
	if encryption.IsSealedFile(src) {
		if src, err = keys.OpenFile(ctx, encryption.RescueFile, name, src); err != nil {
			return nil, err
		}
	}
	if records, err := clientfile.ReadState(src); !errors.Is(err, clientfile.ErrOther) {
		return fromClient(records, err, name)
	}
	var document Document
	if err := json.Unmarshal(src, &document); err != nil || document.FormatVersion == "" {
		return nil, hcl.Diagnostics{
			failure.With(CodeNotDocument, failure.New("Not a state", "%s is not the document of a whole state.", name)),
		}
	}
	if document.FormatVersion != documentVersion {
		return nil, failure.Error("State from another version", "The document has format version %s, and this version of cairn reads %s only.",
			document.FormatVersion, documentVersion)
	}
	if _, err := Decode(document.Records); err != nil {
		return nil, err
	}
	return &document, nil
}

// fromClient returns the document of a state that a client of the RPC API has kept, which has no
// lineage.
func fromClient(records map[string][]byte, err error, name string) (*Document, error) {
	if err != nil {
		return nil, failure.Error("State of another program", "%s is a state of a client of the RPC API, which cannot be used here: %s.", name,
			failure.Reason(err))
	}
	if _, err := Decode(records); err != nil {
		return nil, err
	}
	return &Document{FormatVersion: documentVersion, Records: records}, nil
}

// packedType is the type of the PEM block in which a state is printed.
const packedType = "CAIRN STATE"

// Pack makes lines of text of a state that can be copied from a terminal.
func Pack(document []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(document)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: packedType, Bytes: packed.Bytes()}), nil
}

// unpack is the reverse of Pack. An unpacked document is returned as it is.
func unpack(src []byte) ([]byte, error) {
	block, _ := pem.Decode(src)
	if block == nil || block.Type != packedType {
		return src, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(block.Bytes))
	if err != nil {
		return nil, err
	}
	const most = 4 << 30
	document, err := io.ReadAll(io.LimitReader(r, most))
	return document, errors.Join(err, r.Close())
}

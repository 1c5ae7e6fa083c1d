// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package document makes the JSON documents that programs read: of plans ([NewPlan]), states
// ([NewState]), outputs ([NewOutputs]), queries ([NewQuery]) and validations ([NewValidation]).
// They are values for [WriteDocument], or for encoding/json. Formats of other programs are in
// packages below this one.
//
// The rules the compiler cannot check:
//
//	J1. Documents of plans, states and outputs hold sensitive values in clear.
//	J2. Arrays are sorted by address or name, but for the objects of one list block, and are never
//	    null.
//	J3. Every document but that of outputs begins with format_version; that one is
//	    a map by the users' names, as terraform's is.
package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// FormatVersion is the version of all documents. The first number changes when
// a program that reads them has to.
const FormatVersion = "1.0"

// WriteDocument writes a document, indented when a person may look at it.
func WriteDocument(w io.Writer, document any, indent bool) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if indent {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

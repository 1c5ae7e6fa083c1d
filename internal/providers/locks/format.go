// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package locks

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/release"
)

// header is the text that terraform writes at the beginning of the file.
const header = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.
`

// Format returns the text of a lock file. [Parse] returns the same locks for it.
func Format(locks *Locks) []byte {
	file := hclwrite.NewEmptyFile()
	body := file.Body()
	body.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte(header)}})
	for _, lock := range locks.All() {
		body.AppendNewline()
		block := body.AppendNewBlock("provider", []string{lock.Provider.String()}).Body()
		block.SetAttributeValue("version", cty.StringVal(lock.Version.String()))
		if lock.Constraints != "" {
			block.SetAttributeValue("constraints", cty.StringVal(lock.Constraints))
		}
		if len(lock.Hashes) > 0 {
			block.SetAttributeRaw("hashes", hashTokens(lock.Hashes))
		}
	}
	return hclwrite.Format(file.Bytes())
}

// hashTokens returns a list with one hash a line.
func hashTokens(hashes []release.Hash) hclwrite.Tokens {
	newline := &hclwrite.Token{Type: hclsyntax.TokenNewline, Bytes: []byte{'\n'}}
	tokens := hclwrite.Tokens{{Type: hclsyntax.TokenOBrack, Bytes: []byte{'['}}, newline}
	for _, hash := range hashes {
		tokens = append(tokens, hclwrite.TokensForValue(cty.StringVal(string(hash)))...)
		tokens = append(tokens, &hclwrite.Token{Type: hclsyntax.TokenComma, Bytes: []byte{','}}, newline)
	}
	return append(tokens, &hclwrite.Token{Type: hclsyntax.TokenCBrack, Bytes: []byte{']'}})
}

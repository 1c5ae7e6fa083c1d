// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"testing"
)

// Our outcome for an expression is the one that is recorded of terraform.
func TestCorpus(t *testing.T) {
	for _, corpusFile := range []string{functionsFile, expressionsFile} {
		dir := newCorpusDir(t)
		scopes := newCorpusScopes(t, dir)
		for _, entry := range readCorpus(t, corpusFile) {
			t.Run(entry.section, func(t *testing.T) {
				got, want := scopes.evaluate(t, entry), entry.outcome
				if reason, known := differences[entry.expr]; known {
					if got.String() == want.String() {
						t.Errorf("%s:%d: %s\nagrees with terraform, but is listed as different: %s", corpusFile, entry.line, entry.expr, reason)
					}
					return
				}
				if got.String() != want.String() {
					t.Errorf("%s:%d: %s\ngot:\n%swant:\n%s", corpusFile, entry.line, entry.expr, got, want)
				}
			})
		}
	}
}

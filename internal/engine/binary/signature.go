// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Bind implements [engine.Recoverer].
func (e *Session) Bind(purpose engine.Purpose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.purpose = purpose
}

func (e *Session) sign(record applyRecord) applyRecord {
	e.mu.Lock()
	defer e.mu.Unlock()
	record.Plan, record.Serial = e.mu.purpose.Plan, e.mu.purpose.Serial
	return record.signed(e.mu.purpose.Secret)
}

func (e *Session) isSigned(record applyRecord) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return record.isSigned(e.mu.purpose.Secret)
}

func (r applyRecord) signed(secret []byte) applyRecord {
	r.MAC = ""
	data, err := json.Marshal(r)
	if err != nil {
		panic("encoding the record of an apply: " + err.Error())
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(data) // never fails
	r.MAC = hex.EncodeToString(mac.Sum(nil))
	return r
}

func (r applyRecord) isSigned(secret []byte) bool {
	return hmac.Equal([]byte(r.signed(secret).MAC), []byte(r.MAC))
}

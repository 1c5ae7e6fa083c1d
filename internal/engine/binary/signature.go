// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Purpose is to what state runs belong, and for what they are begun.
type Purpose struct {
	// Secret is of the state: applies are signed with it, and Recover believes those only that are. Who can write to the working directory, such
	// as the author of a repository that comes with one, does not know it. Without a secret, all are believed that were begun without one.
	Secret []byte

	Plan   string // identity of the saved plan that is applied, empty for another one
	Serial int64  // of the state when the apply began
}

// BindRuns says for what applies are begun from now on, and which ones are recovered.
func (e *Session) BindRuns(purpose Purpose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.purpose = purpose
}

// UnknownRunError is about the directory of an apply that the state knows nothing of.
type UnknownRunError struct {
	Dir       string
	Component string // as it is written there
	StateFile string // with the newest state of the component, if the apply has left one
}

// Error describes the error.
func (e *UnknownRunError) Error() string {
	return fmt.Sprintf("%s is of an apply that was not begun with this state", e.Dir)
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

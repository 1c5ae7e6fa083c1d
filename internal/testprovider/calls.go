// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// CallsVariable is the environment variable with the path of the file that calls are appended to,
// one JSON object a line.
const CallsVariable = "CAIRN_FAKE_CALLS"

// DescriptorsVariable is the environment variable with the path of the file to which a provider
// appends, when it is started, the data that it can read from the descriptors that it has
// inherited. Only on Linux.
const DescriptorsVariable = "CAIRN_FAKE_DESCRIPTORS"

// ValuesVariable is the environment variable that has values recorded, too, when it is not empty.
const ValuesVariable = "CAIRN_FAKE_CALL_VALUES"

// Call is one request that the provider received, written before it is served.
//
// ApplyResourceChange leaves a second record with Finished set once it has been served, so that
// tests can see which calls ran at the same time.
type Call struct {
	RPC      string `json:"rpc"`
	Type     string `json:"type,omitempty"`   // resource type or function name
	Action   string `json:"action,omitempty"` // create, update, delete or no-op, for plan and apply
	ID       string `json:"id,omitempty"`     // where it was known
	PID      int    `json:"pid"`              // of the provider process
	Finished bool   `json:"finished,omitempty"`

	// Config is the provider configuration that ValidateProviderConfig or ConfigureProvider received,
	// with null for unknown values; Unknown has the paths of those values, such as
	// ".list_block[0].name".
	Config  json.RawMessage `json:"config,omitempty"`
	Unknown []string        `json:"unknown,omitempty"`

	// Values are those that the request has by their names in the protocol, as text, if
	// [ValuesVariable] is set.
	Values map[string]string `json:"values,omitempty"`

	// WriteOnly has the write-only attributes that ApplyResourceChange received, those that were set.
	WriteOnly map[string]json.RawMessage `json:"write_only,omitempty"`

	values map[string]cty.Value
}

// ReadCalls returns the calls recorded in the file at path, in the order in which they arrived. A
// missing file has none.
func ReadCalls(path string) ([]Call, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading calls: %w", err)
	}
	var calls []Call
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		var call Call
		err := dec.Decode(&call)
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading calls from %s: %w", path, err)
		}
		calls = append(calls, call)
	}
}

// CountCalls returns how many of calls are requests of the given kind, such as
// "PlanResourceChange".
func CountCalls(calls []Call, rpc string) int {
	count := 0
	for _, call := range calls {
		if call.RPC == rpc && !call.Finished {
			count++
		}
	}
	return count
}

// record appends call to the file that the environment names, if it does.
//
// It panics if it cannot: a test that counts calls would otherwise pass for the wrong reason.
func record(call Call) {
	path := os.Getenv(CallsVariable)
	if path == "" {
		return
	}
	call.PID = os.Getpid()
	if os.Getenv(ValuesVariable) != "" && len(call.values) > 0 {
		call.Values = make(map[string]string)
		for name, v := range call.values {
			call.Values[name] = valueText(v)
		}
	}
	line, err := json.Marshal(call)
	if err == nil {
		err = appendLine(path, line)
	}
	if err != nil {
		panic(fmt.Sprintf("recording a call: %s", err))
	}
}

// appendLine writes line with a single write, so that lines of several processes do not mix.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// knownJSON returns v as JSON with null in place of unknown values, and the sorted paths of those.
func knownJSON(v cty.Value) (json.RawMessage, []string, error) {
	var unknown []string
	known, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		unknown = append(unknown, pathString(path))
		return cty.NullVal(v.Type()), nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("replacing unknown values: %w", err)
	}
	raw, err := ctyjson.Marshal(known, known.Type())
	if err != nil {
		return nil, nil, fmt.Errorf("encoding values: %w", err)
	}
	slices.Sort(unknown)
	return raw, unknown, nil
}

func pathString(path cty.Path) string {
	var b bytes.Buffer
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			fmt.Fprintf(&b, ".%s", step.Name)
		case cty.IndexStep:
			switch {
			case !step.Key.IsKnown() || step.Key.IsNull():
				b.WriteString("[?]")
			case step.Key.Type() == cty.Number:
				fmt.Fprintf(&b, "[%s]", step.Key.AsBigFloat().Text('f', -1))
			case step.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", step.Key.AsString())
			default: // an element of a set, which has no key of its own
				b.WriteString("[*]")
			}
		}
	}
	return b.String()
}

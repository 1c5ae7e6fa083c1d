// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cairnstacks/cairn/internal/enginelog"
)

// ReattachVariable names processes of providers that somebody else has started, such as a debugger
// or a test. See [ParseReattach].
const ReattachVariable = "TF_REATTACH_PROVIDERS"

// Reattach is how to reach a process that somebody else has started.
type Reattach struct {
	Protocol        string // grpc
	ProtocolVersion int    // 0 stands for 5
	Pid             int
	Test            bool
	Addr            struct {
		Network string // unix or tcp
		String  string
	}
}

// ParseReattach decodes the value of [ReattachVariable], by the addresses of providers as they are
// written there. An empty one names none.
func ParseReattach(value string) (map[string]Reattach, error) {
	if value == "" {
		return nil, nil
	}
	var all map[string]Reattach
	if err := json.Unmarshal([]byte(value), &all); err != nil {
		return nil, fmt.Errorf("the variable %s is not the JSON that it must be: %w", ReattachVariable, err)
	}
	for address, one := range all {
		if one.Addr.Network != "unix" && one.Addr.Network != "tcp" {
			return nil, fmt.Errorf("the variable %s has the network %q for provider %s; it must be unix or tcp",
				ReattachVariable, one.Addr.Network, address)
		}
	}
	return all, nil
}

// Attach connects to a process that somebody else has started, which stays when this program ends.
// The connection is not encrypted. Its calls are in the log, nil for none; its output goes
// elsewhere.
//
// Errors: an [*Error].
func Attach(to Reattach, log *enginelog.Log) (*Process, error) {
	p := &Process{name: fmt.Sprintf("with process id %d", to.Pid), version: to.ProtocolVersion, words: &lastWords{}, log: log.Core()}
	if p.version == 0 {
		p.version = 5
	}
	if to.Protocol != "grpc" || p.version != 5 && p.version != 6 {
		return nil, &Error{Problem: fmt.Sprintf("The provider's program %s has version %d of the protocol %s, which is not supported.",
			p.name, p.version, to.Protocol)}
	}
	target := "passthrough:///" + to.Addr.String
	if to.Addr.Network == "unix" {
		target = "unix:" + to.Addr.String
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, &Error{Problem: fmt.Sprintf("The provider's program %s cannot be reached: %s.", p.name, err)}
	}
	p.conn = conn
	return p, nil
}

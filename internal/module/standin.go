// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	tfaddr "github.com/hashicorp/terraform-registry-address"
)

// StandIn takes the place of a called module that cannot be loaded, so that its caller can be
// checked: it accepts all that the call gives, and has every output that the caller may ask for.
type StandIn struct {
	Key, Source, Version string // as in [Node]

	Content []byte // of its only file, in JSON syntax
}

// StandIn returns the tree with stand-ins for some directories below the root and for modules that
// are not there. Modules that only the replaced ones call are left out.
func (t *Tree) StandIn(replaced map[*Directory]bool) *Tree {
	cut := *t
	cut.Nodes = nil
	kept := map[*Node]bool{t.Root: true}
	for _, node := range t.Nodes { // callers come first
		switch {
		case !kept[node.Parent]:
		case replaced[node.Directory]:
			cut.StandIns = append(cut.StandIns, standIn(node))
		default:
			kept[node] = true
			cut.Nodes = append(cut.Nodes, node)
		}
	}
	for _, node := range t.Missing {
		if kept[node.Parent] {
			cut.StandIns = append(cut.StandIns, standIn(node))
		}
	}
	return &cut
}

func standIn(node *Node) StandIn {
	caller := node.Parent
	blocks := map[string]map[string]any{
		"variable":  givenBy(node.Call),
		"output":    caller.mayAskFor(),
		"terraform": {"required_providers": caller.passedTo(node.Call)},
	}
	maps.DeleteFunc(blocks, func(_ string, labels map[string]any) bool { return len(labels) == 0 }) // which the engine does not take for none
	content, err := json.Marshal(blocks)
	if err != nil {
		panic("encoding a stand-in: " + err.Error())
	}
	return StandIn{Key: node.Key, Source: node.Source, Version: node.Version, Content: content}
}

// givenBy returns the declarations of the variables that a call sets. Their values may be of any
// kind.
func givenBy(call *Call) map[string]any {
	variables := map[string]any{}
	for name := range call.Inputs {
		variables[name] = map[string]any{"default": nil, "ephemeral": true}
	}
	return variables
}

// attributeName finds possible names of attributes: after a dot, or as an index.
var attributeName = regexp.MustCompile(`[."]\s*([\pL_][\pL\pN_-]*)`)

// mayAskFor returns declarations of outputs with all names that occur in the directory: an
// expression may take those of a module that is called in many ways.
func (d *Directory) mayAskFor() map[string]any {
	outputs := map[string]any{}
	for _, file := range d.Files {
		for _, match := range attributeName.FindAllSubmatch(file.Source, -1) {
			outputs[string(match[1])] = map[string]any{"value": nil}
		}
	}
	return outputs
}

// passedTo returns requirements of the providers that a call passes configurations of.
func (d *Directory) passedTo(call *Call) map[string]any {
	required := map[string]any{}
	for _, slot := range slices.SortedFunc(maps.Keys(call.Providers), compareSlots) {
		provider, _ := d.Provider(call.Providers[slot].LocalName)
		if provider.IsBuiltin() {
			continue // passing it on is at most worth a warning
		}
		entry, ok := required[slot.LocalName].(map[string]any)
		if !ok {
			source := provider.String()
			if provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
				source = strings.TrimPrefix(source, provider.Hostname+"/") // each engine has its own default registry
			}
			entry = map[string]any{"source": source}
			required[slot.LocalName] = entry
		}
		if slot.Alias != "" {
			aliases, _ := entry["configuration_aliases"].([]string) // none yet
			entry["configuration_aliases"] = append(aliases, slot.LocalName+"."+slot.Alias)
		}
	}
	return required
}

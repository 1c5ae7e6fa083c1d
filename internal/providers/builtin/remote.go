// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// remoteType is the only type of data sources: the outputs in a stored state.
const remoteType = "terraform_remote_state"

const (
	summaryBackend  = "Invalid backend configuration"
	summaryDefaults = "Invalid default values"
	summaryNoState  = "Stored state not found"
	summaryRemote   = "Stored state not readable"
)

// backend is a place of stored states.
type backend struct {
	arguments []string

	// read returns the text of a state, empty if there is none.
	read func(ctx context.Context, opts Options, args map[string]string, workspace string) ([]byte, error)
}

var backends = map[string]backend{
	"local": {arguments: []string{"path", "workspace_dir"}, read: readLocal},
	"http":  {arguments: httpArguments, read: readHTTP},
}

// at returns an error about an attribute of the data source.
func at(attribute, summary, format string, args ...any) provider.Diagnostics {
	return provider.Diagnostics{{Summary: summary, Detail: fmt.Sprintf(format, args...), Path: cty.GetAttrPath(attribute)}}
}

// validateRemote checks the known parts of a configuration.
func validateRemote(config cty.Value) provider.Diagnostics {
	if config.IsNull() || !config.IsKnown() {
		return nil
	}
	var diags provider.Diagnostics
	if defaults := config.GetAttr("defaults"); !isObject(defaults) {
		diags = append(diags, at("defaults", summaryDefaults, "Default values for outputs are an object.")...)
	}
	if !isObject(config.GetAttr("config")) {
		return append(diags, at("config", summaryBackend, "The arguments of a backend are an object.")...)
	}
	name := config.GetAttr("backend")
	if name.IsNull() || !name.IsKnown() {
		return diags
	}
	found, ok := backends[name.AsString()]
	if !ok {
		return append(diags, at("backend", summaryBackend,
			"The native engine reads states from the backends http and local, not from %q. "+
				"Use terraform or tofu as the engine of components with this data source.", name.AsString())...)
	}
	_, err := found.decode(config.GetAttr("config"))
	if err != nil {
		diags = append(diags, at("config", summaryBackend, "The arguments are not valid for the backend %q: %s.", name.AsString(), err)...)
	}
	return diags
}

// isObject reports whether a value is an object or a map, or may become one.
func isObject(v cty.Value) bool {
	ty := v.Type()
	return ty == cty.DynamicPseudoType || ty.IsObjectType() || ty.IsMapType()
}

// decode returns the arguments that are known and not null.
func (b backend) decode(config cty.Value) (map[string]string, error) {
	args := map[string]string{}
	if config.IsNull() || !config.IsKnown() {
		return args, nil
	}
	values := config.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(b.arguments, name) {
			return nil, fmt.Errorf("there is no argument %q", name)
		}
		text, err := convert.Convert(values[name], cty.String)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", name, err)
		}
		if text.IsKnown() && !text.IsNull() {
			args[name] = text.AsString()
		}
	}
	return args, nil
}

// readRemote reads the outputs of a stored state. Of a sensitive output nothing says so, as with
// terraform.
func readRemote(ctx context.Context, opts Options, config cty.Value) provider.ReadDataResponse {
	if diags := validateRemote(config); diags.HasErrors() {
		return provider.ReadDataResponse{Diagnostics: diags}
	}
	name := config.GetAttr("backend").AsString()
	args, err := backends[name].decode(config.GetAttr("config"))
	if err != nil { // it was valid just now
		return provider.ReadDataResponse{Diagnostics: at("config", summaryBackend, "%s.", err)}
	}
	text, err := backends[name].read(ctx, opts, args, workspaceOf(config))
	if err != nil {
		return provider.ReadDataResponse{Diagnostics: at("backend", summaryRemote, "The state cannot be read: %s.", err)}
	}
	if len(text) == 0 {
		return provider.ReadDataResponse{Diagnostics: provider.Errorf(summaryNoState,
			"The backend %q has no state in workspace %q. Apply its configuration first.", name, workspaceOf(config))}
	}
	outputs, err := outputsOf(text, config.GetAttr("defaults"))
	if err != nil {
		return provider.ReadDataResponse{Diagnostics: at("backend", summaryRemote,
			"The content of the backend %q is not a state: %s.", name, err)}
	}
	attrs := config.AsValueMap()
	attrs["outputs"] = outputs
	return provider.ReadDataResponse{State: cty.ObjectVal(attrs)}
}

func workspaceOf(config cty.Value) string {
	if workspace := config.GetAttr("workspace"); !workspace.IsNull() && workspace.AsString() != "" {
		return workspace.AsString()
	}
	return initdir.DefaultWorkspace
}

// outputsOf returns the outputs of a state, and defaults where it has none.
func outputsOf(text []byte, defaults cty.Value) (cty.Value, error) {
	document, err := tfstate.Parse(text)
	if err != nil {
		return cty.NilVal, err
	}
	outputs, err := document.Outputs()
	if err != nil {
		return cty.NilVal, err
	}
	values := map[string]cty.Value{}
	if !defaults.IsNull() {
		maps.Copy(values, defaults.AsValueMap())
	}
	for name, output := range outputs {
		values[name] = output.Value
	}
	return cty.ObjectVal(values), nil
}

// errWorkspace is the error of a backend without workspaces.
var errWorkspace = errors.New("the backend has no other workspaces than " + initdir.DefaultWorkspace)

// orDefault returns an argument, or its default if it is empty.
func orDefault(value, other string) string {
	if strings.TrimSpace(value) == "" {
		return other
	}
	return value
}

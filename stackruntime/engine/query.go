// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Querier is the ability to find existing objects, by the list blocks in the query files of a
// module. Nothing is planned or changed.
type Querier interface {
	// Query asks the providers of one component instance. With error diagnostics the result is nil, or
	// has the objects of the blocks that did not fail.
	//
	// Ending ctx ends it at once. The observer may be nil.
	Query(ctx context.Context, req *QueryRequest, observe Observer) (*QueryResult, hcl.Diagnostics)
}

// QueryRequest is a request to find the objects that the query files of a component's module ask
// for.
type QueryRequest struct {
	Work      WorkID
	Component stackaddrs.AbsComponentInstance
	ModuleDir string

	// Inputs and Providers are as in [PlanRequest]. A list block whose configuration depends on an
	// unknown value is an error.
	Inputs    map[string]cty.Value
	Providers map[ProviderSlot]ProviderConfig

	// Generate is set if configuration for the objects is wanted.
	Generate bool
}

// QueryResult has the objects that were found.
type QueryResult struct {
	// Objects are sorted by the addresses of the list blocks; those of one are in the order of the
	// provider.
	Objects []*FoundObject

	// Generated are blocks for the module, if they were asked for and there are no errors: a resource
	// block and an import block for each object. Sensitive values are not in them.
	Generated string
}

// FoundObject is an existing object.
type FoundObject struct {
	List        string // the address of the list block's instance, such as list.aws_vpc.all["eu"]
	Type        string // of the resource
	Provider    stackaddrs.Provider
	Identity    cty.Value // an object, by which it can be imported
	DisplayName string    // may be empty

	// Object is the whole object, [cty.NilVal] unless the list block includes it. Marks: sensitive.
	Object cty.Value
}

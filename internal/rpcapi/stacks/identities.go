// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"slices"

	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// ListResourceIdentities implements [stackspb.StacksServer].
func (s *Service) ListResourceIdentities(
	ctx context.Context, req *stackspb.ListResourceIdentities_Request,
) (*stackspb.ListResourceIdentities_Response, error) {
	from, err := handle.Get[*openState](s.handles, req.GetStateHandle(), stateHandle)
	if err != nil {
		return nil, err
	}
	selected, err := dependencies.Providers(s.handles, dependencies.Handles{
		Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle(), Required: true,
	})
	if err != nil {
		return nil, err
	}
	l := &identityLister{environ: s.opts.Environ, selected: selected, known: map[stackaddrs.Provider]*schema.Provider{}}
	for _, c := range from.state.SortedComponents() {
		if err := l.add(ctx, c); err != nil {
			return nil, err
		}
	}
	return &l.response, nil
}

// identityLister lists the identities of objects by the schemas of their providers, which it starts
// when it needs them.
type identityLister struct {
	environ  []string
	selected []dependencies.Selected
	known    map[stackaddrs.Provider]*schema.Provider
	response stackspb.ListResourceIdentities_Response
}

func (l *identityLister) add(ctx context.Context, c *stackstate.Component) error {
	objects, err := tfstate.ParseObjects(c.Module)
	if err != nil {
		return status.Errorf(codes.InvalidArgument, "the state of %s cannot be read: %s", c.Addr, err)
	}
	for _, object := range objects {
		if object.Deposed != "" || len(object.Identity) == 0 {
			continue
		}
		described, err := l.describe(ctx, object)
		if err != nil {
			return err
		}
		described.ComponentAddr = c.Addr.Item.Component.String()
		described.ComponentInstanceAddr = c.Addr.String()
		l.response.Resource = append(l.response.Resource, described)
	}
	return nil
}

func (l *identityLister) describe(ctx context.Context, object tfstate.Object) (*stackspb.ListResourceIdentities_Resource, error) {
	found, err := l.schemaOf(ctx, object)
	if err != nil {
		return nil, err
	}
	if found.Version != int64(object.IdentityVersion) {
		return nil, status.Errorf(codes.InvalidArgument,
			"the identity of %s is of version %d, and the provider %s has version %d: apply the stack once, which makes it of that version",
			object.Addr, object.IdentityVersion, object.ProviderName(), found.Version)
	}
	value, err := ctyjson.Unmarshal(object.Identity, found.Type())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the identity of %s is not as the provider %s describes it: %s",
			object.Addr, object.ProviderName(), err)
	}
	message, err := wire.ValueOf(value, found.Type())
	if err != nil {
		return nil, status.Errorf(codes.Internal, "the identity of %s cannot be sent: %s", object.Addr, err)
	}
	return &stackspb.ListResourceIdentities_Resource{ResourceInstanceAddr: object.Addr.String(), ResourceIdentity: message}, nil
}

// schemaOf returns the schema of the identities of a type.
//
// Errors: InvalidArgument if there is none; Internal if the provider does not say.
func (l *identityLister) schemaOf(ctx context.Context, object tfstate.Object) (*schema.Identity, error) {
	config, ok := tfstate.ParseProviderConfig(object.Provider)
	i := slices.IndexFunc(l.selected, func(s dependencies.Selected) bool { return ok && config.IsOf(s.Provider) })
	if i < 0 {
		return nil, status.Errorf(codes.InvalidArgument, "%s has an identity of the provider %s, which is not locked",
			object.Addr, object.ProviderName())
	}
	provider := l.selected[i]
	if l.known[provider.Provider] == nil {
		read, err := provider.ReadSchema(ctx, l.environ)
		if err != nil {
			return nil, err
		}
		l.known[provider.Provider] = read
	}
	found := l.known[provider.Provider].Identities[object.Addr.Resource.Type]
	if found == nil {
		return nil, status.Errorf(codes.InvalidArgument, "%s has an identity, and the provider %s describes none of %q",
			object.Addr, provider.Provider, object.Addr.Resource.Type)
	}
	return found, nil
}

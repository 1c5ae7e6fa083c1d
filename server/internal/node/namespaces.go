// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package node

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/client"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/telemetry"
	"google.golang.org/protobuf/types/known/durationpb"
)

// register creates the namespaces that do not exist, and sets the retention of all of them. It does
// so in the database, before the services start: these would know a new namespace only after some
// seconds.
func register(ctx context.Context, cfg *config.Config, options Options) error {
	serializer := serialization.NewSerializer()
	factory := client.FactoryProvider(client.NewFactoryParams{
		DataStoreFactory: client.DataStoreFactoryProvider(clusterName, resolver.NewNoopResolver(), &cfg.Persistence, nil,
			options.Logger, metrics.NoopMetricsHandler, telemetry.NoopTracerProvider, serializer),
		Cfg:            &cfg.Persistence,
		ClusterName:    clusterName,
		MetricsHandler: metrics.NoopMetricsHandler,
		Logger:         options.Logger,
		Serializer:     serializer,
	})
	defer factory.Close()
	manager, err := factory.NewMetadataManager()
	if err != nil {
		return err
	}
	defer manager.Close()
	ctx = headers.SetCallerInfo(ctx, headers.SystemBackgroundHighCallerInfo)
	retention := durationpb.New(options.Retention)
	for _, name := range options.Namespaces {
		if err := registerOne(ctx, manager, name, retention); err != nil {
			return err
		}
	}
	return nil
}

func registerOne(ctx context.Context, manager persistence.MetadataManager, name string, retention *durationpb.Duration) error {
	there, err := manager.GetNamespace(ctx, &persistence.GetNamespaceRequest{Name: name})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		_, err = manager.CreateNamespace(ctx, &persistence.CreateNamespaceRequest{Namespace: newNamespace(name, retention)})
		return err
	}
	if err != nil {
		return err
	}
	if there.Namespace.Config.Retention.AsDuration() == retention.AsDuration() {
		return nil
	}
	metadata, err := manager.GetMetadata(ctx)
	if err != nil {
		return err
	}
	there.Namespace.Config.Retention = retention
	there.Namespace.ConfigVersion++
	return manager.UpdateNamespace(ctx, &persistence.UpdateNamespaceRequest{
		Namespace:           there.Namespace,
		IsGlobalNamespace:   there.IsGlobalNamespace,
		NotificationVersion: metadata.NotificationVersion,
	})
}

func newNamespace(name string, retention *durationpb.Duration) *persistencespb.NamespaceDetail {
	return &persistencespb.NamespaceDetail{
		Info: &persistencespb.NamespaceInfo{
			Id:    primitives.NewUUID().String(),
			Name:  name,
			State: enumspb.NAMESPACE_STATE_REGISTERED,
		},
		Config: &persistencespb.NamespaceConfig{
			Retention:               retention,
			HistoryArchivalState:    enumspb.ARCHIVAL_STATE_DISABLED,
			VisibilityArchivalState: enumspb.ARCHIVAL_STATE_DISABLED,
		},
		ReplicationConfig: &persistencespb.NamespaceReplicationConfig{
			ActiveClusterName: clusterName,
			Clusters:          []string{clusterName},
		},
		FailoverVersion:             common.EmptyVersion,
		FailoverNotificationVersion: -1,
	}
}

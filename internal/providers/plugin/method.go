// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import "fmt"

// Method is a method of the protocol, which has the same name in both versions, unless there is
// another for 5.
type Method struct{ Name, in5 string }

// The methods.
var (
	GetMetadata        = Method{Name: "GetMetadata"}
	GetSchema          = Method{Name: "GetProviderSchema", in5: "GetSchema"}
	GetIdentitySchemas = Method{Name: "GetResourceIdentitySchemas"}
	GetFunctions       = Method{Name: "GetFunctions"}

	ValidateProvider  = Method{Name: "ValidateProviderConfig", in5: "PrepareProviderConfig"}
	ValidateResource  = Method{Name: "ValidateResourceConfig", in5: "ValidateResourceTypeConfig"}
	ValidateData      = Method{Name: "ValidateDataResourceConfig", in5: "ValidateDataSourceConfig"}
	ValidateEphemeral = Method{Name: "ValidateEphemeralResourceConfig"}
	ValidateAction    = Method{Name: "ValidateActionConfig"}
	ValidateList      = Method{Name: "ValidateListResourceConfig"}

	Configure       = Method{Name: "ConfigureProvider", in5: "Configure"}
	UpgradeState    = Method{Name: "UpgradeResourceState"}
	UpgradeIdentity = Method{Name: "UpgradeResourceIdentity"}
	Read            = Method{Name: "ReadResource"}
	Plan            = Method{Name: "PlanResourceChange"}
	Apply           = Method{Name: "ApplyResourceChange"}
	Import          = Method{Name: "ImportResourceState"}
	Move            = Method{Name: "MoveResourceState"}
	GenerateConfig  = Method{Name: "GenerateResourceConfig"}
	ReadData        = Method{Name: "ReadDataSource"}

	OpenEphemeral  = Method{Name: "OpenEphemeralResource"}
	RenewEphemeral = Method{Name: "RenewEphemeralResource"}
	CloseEphemeral = Method{Name: "CloseEphemeralResource"}

	CallFunction = Method{Name: "CallFunction"}
	PlanAction   = Method{Name: "PlanAction"}
	InvokeAction = Method{Name: "InvokeAction"}
	List         = Method{Name: "ListResource"}
	Stop         = Method{Name: "StopProvider", in5: "Stop"}
)

// path returns the name of the method for gRPC.
func (m Method) path(version int) string {
	name := m.Name
	if version == 5 && m.in5 != "" {
		name = m.in5
	}
	return fmt.Sprintf("/tfplugin%d.Provider/%s", version, name)
}

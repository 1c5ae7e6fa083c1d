// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package providerscmd has the commands about the providers of a stack, which are those that
// terraform has about those of a module.
package providerscmd

import (
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

// Command returns the command providers with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:    "providers",
		Summary: "Shows which providers are required, and where; locks their checksums, mirrors them, and writes their schemas.",
		Long: `
Without a command, shows the tree of the stack: the stacks in it, components and removed components,
and the modules that their modules call, each with the providers that it requires itself and the
versions that it allows.`,
		Example:  "cairn providers\ncairn providers lock -platform=linux_amd64 -platform=darwin_arm64\ncairn providers mirror ./copies",
		Commands: []*session.Command{lockCommand(), mirrorCommand(), schemaCommand()},
		Flags:    session.EngineFlags,
		Run:      showTree,
	}
}

// platformFlag adds the option for the platforms of packages.
func platformFlag(f *session.Flags, platforms *cmdline.List) {
	f.Var(platforms, "platform",
		"fetch packages for this platform, such as linux_amd64; for several, give it several times; without it, that of this machine: `OS_ARCH`")
}

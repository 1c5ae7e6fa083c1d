// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package toolcache builds the programs that tests and the demo run, and keeps them: providers in a
// filesystem mirror, OpenTofu where no engine is installed, servers of object storage and of
// Temporal. All come from Go modules, but for Azurite, which npm installs.
//
// The cache is the directory .cache of the repository, or CAIRN_CACHE where that is set:
//
//	bin/tofu              OpenTofu, built by [Cache.Tofu]
//	mirror/KEY/…          providers, laid out as HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/
//	path/KEY/…            links to the programs of a directory, without terraform; see [Cache.TofuPath]
//
// Without CAIRN_CACHE, OpenTofu is kept outside of the repository, for all its clones: in
// cairn-tools/tofu-VERSION in the user's directory for caches. So are the servers, each in a
// directory NAME-VERSION there; with CAIRN_CACHE they are in the cache. cairn-server, which is
// built from the folder server of the repository, has a KEY for its version.
//
// Rules:
//
//  1. A program that has its final name is complete: programs are built elsewhere on the same file
//     system and moved into place under a lock on the cache, so that any number of processes may
//     use it at once.
//  2. KEY stands for all sources of the providers or the server. A mirror never changes once a
//     provider is in it, so a test that runs while sources are edited keeps the providers that it
//     started with.
package toolcache

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package releasetest tests releases as their users meet them: installed by install.sh, unpacked
// from an archive or a package, and as a container image. It has tests only.
//
// Where CAIRN_TEST_RELEASE names a directory that "make release-snapshot" has made, its files are
// tested. Elsewhere the tests make the archive and the image for this machine, from the same files
// and by the same programs, since GoReleaser takes minutes to build; then what only GoReleaser
// makes (packages, lists of modules, archives for other platforms, cairn-server) is not tested.
package releasetest

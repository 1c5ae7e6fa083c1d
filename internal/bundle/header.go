// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

// lockFileHeader stands above the locks, for people who find the file in a repository.
const lockFileHeader = `# Maintained by "cairn init". Keep this file in version control, so that everybody works with the same sources.
`

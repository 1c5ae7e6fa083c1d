// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package groups plans, applies and destroys several deployments of one stack, group by group.
//
// Members do not depend on each other: a group says how many of them may fail before no further one
// is begun, and groups come one after the other, so that a mistake found in the first ones does not
// reach the last. The work on a member is done by its driver, and the caller decides about applies.
//
// Rules:
//
//   - G1. Groups are applied in their order, and the members of each are begun in theirs, as many
//     at a time as the caller allows.
//   - G2. An eager group has the plans of all members before the first is applied. In another one a
//     member is planned when those before it are done.
//   - G3. When more members of a group have failed than it tolerates, no further one is begun.
//     Running members come to their end.
//   - G4. A group is begun when all before it are done: none has failed beyond tolerance, and no
//     plan waits for approval or was refused it.
//   - G5. Where nothing is applied, groups do not wait for each other.
//   - G6. A member whose plan leaves changes to a later one is planned and applied again, in
//     rounds, each approved for itself.
//   - G7. Groups that are alone, and are written one after the other, are worked on at the same
//     time, and begun in their order. When one of them does not come to a good end, no further one
//     is begun.
package groups

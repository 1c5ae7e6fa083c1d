// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package forge decides about pull requests of GitHub and merge requests of GitLab: the event that
// a job runs for, who may ask for an apply, and which comment is ours. It reads the documents of
// their APIs and makes them; others fetch and send these.
//
// Rules:
//
//   - F1. A request has one comment for an id. It begins with a hidden marker of that id, and is by
//     the author that we are: anybody can write a marker.
//   - F2. Of several such comments, which jobs make that run at the same time, the oldest is kept.
//     All jobs come to the same conclusion, in whatever order they look.
//   - F3. What a marker says is not believed: it names the run that has an artifact, and a set of
//     plans from there is checked as any other.
//   - F4. Texts that go on to a shell have letters, digits and a few signs, and nothing else.
package forge

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package forge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Event is the reason for a job.
type Event struct {
	Number string // of the pull or merge request; "" if it is not known, or there is none
	Merged bool   // the request was merged
	Asked  bool   // a comment asks for an apply
	User   string // whose permission decides then: a name at GitHub, a number at GitLab
	Commit string // at the head of the request; "" if it is not known
}

// command is a comment that asks for an apply: nothing else may be in its first line.
const command = "cairn apply"

var safe = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]*$`)

// check finds out whether all of an event can go to a shell (rule F4).
func (e Event) check() (Event, error) {
	for _, text := range []string{e.Number, e.User, e.Commit} {
		if !safe.MatchString(text) {
			return Event{}, fmt.Errorf("the event has the unusual value %q", text)
		}
	}
	return e, nil
}

func isCommand(comment string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(comment), "\n")
	return strings.Join(strings.Fields(first), " ") == command
}

// GitHubEvent reads the event of a workflow. Other events than those of pull requests have no
// number.
func GitHubEvent(payload []byte) (Event, error) {
	var read struct {
		Action      string
		PullRequest *struct {
			Number int64
			Merged bool
			Head   struct{ SHA string }
		} `json:"pull_request"`
		Issue *struct {
			Number      int64
			PullRequest *struct{} `json:"pull_request"`
		}
		Comment *struct {
			Body string
			User person
		}
	}
	if err := json.Unmarshal(payload, &read); err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	switch {
	case read.PullRequest != nil:
		request := read.PullRequest
		return Event{
			Number: fmt.Sprint(request.Number), Merged: read.Action == "closed" && request.Merged, Commit: request.Head.SHA,
		}.check()
	case read.Issue != nil && read.Issue.PullRequest != nil && read.Comment != nil:
		event := Event{Number: fmt.Sprint(read.Issue.Number)}
		// An edit of a comment is by anybody who may edit, and the event names the author alone.
		if read.Action == "created" && isCommand(read.Comment.Body) {
			event.Asked, event.User = true, read.Comment.User.name()
		}
		return event.check()
	}
	return Event{}, nil
}

// GitLabEvent reads the event of a pipeline: that of a merge request by its number, or a comment by
// the payload of the webhook that has started it. There is none in the pipeline of a branch.
func GitLabEvent(number string, payload []byte) (Event, error) {
	if len(payload) == 0 {
		return Event{Number: number}.check()
	}
	var read struct {
		User  struct{ ID int64 }
		Note  struct{ Note, Action string } `json:"object_attributes"`
		Merge struct {
			IID        int64
			LastCommit struct{ ID string } `json:"last_commit"`
		} `json:"merge_request"`
	}
	if err := json.Unmarshal(payload, &read); err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	if read.Merge.IID == 0 {
		return Event{Number: number}.check()
	}
	event := Event{Number: fmt.Sprint(read.Merge.IID), Commit: read.Merge.LastCommit.ID}
	if isCommand(read.Note.Note) && cmp.Or(read.Note.Action, "create") == "create" {
		event.Asked, event.User = true, fmt.Sprint(read.User.ID)
	}
	return event.check()
}

// MergedBy returns the number of the request that a commit was merged by, in a document of the
// requests of that commit; "" if none was.
func MergedBy(document []byte) (string, error) {
	var read []struct {
		Number   int64
		IID      int64
		State    string
		MergedAt string `json:"merged_at"`
	}
	if err := json.Unmarshal(document, &read); err != nil {
		return "", fmt.Errorf("read requests: %w", err)
	}
	for _, request := range read {
		if request.MergedAt != "" || request.State == "merged" {
			return fmt.Sprint(cmp.Or(request.Number, request.IID)), nil
		}
	}
	return "", nil
}

// developer is the least access level at GitLab with which one may push.
const developer = 30

// MayWrite reports whether a document about the permission of a user lets them write.
func MayWrite(document []byte) (bool, error) {
	var read struct {
		Permission string
		Access     int    `json:"access_level"`
		State      string // of the account at GitLab
	}
	if err := json.Unmarshal(document, &read); err != nil {
		return false, fmt.Errorf("read permission: %w", err)
	}
	isDeveloper := read.Access >= developer && cmp.Or(read.State, "active") == "active"
	return read.Permission == "admin" || read.Permission == "write" || isDeveloper, nil
}

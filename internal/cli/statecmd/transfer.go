// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/clientfile"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
)

// clientFormat is that of files of clients of the RPC API.
const clientFormat = "tfstackstate"

func pullCommand() *session.Command {
	var format string
	return &session.Command{
		Name:    "pull",
		Summary: "Writes the whole state to standard output, to be kept or moved.",
		Long: `
The document holds sensitive values. "cairn state push" reads it; to look into a state, use "cairn show -json".
With -format=tfstackstate it is a file for clients of the RPC API, which "cairn state push" reads, too.`,
		Example: "cairn state pull > backup.json\ncairn state pull -format=tfstackstate > stack.tfstackstate",
		Flags: func(f *session.Flags) {
			f.StringVar(&format, "format", "", "write `json|tfstackstate` (default: json)")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			stored, err := s.Stack().States().ReadToShow(ctx)
			if err != nil {
				return 0, err
			}
			return cmdline.ExitOK, writeState(s, stored, format)
		},
	}
}

func writeState(s *session.Session, stored *deployment.Stored, format string) error {
	switch format {
	case "", "json":
		return document.WriteDocument(s.Streams.Out, stored.Document(), true)
	case clientFormat:
		file, err := clientfile.WriteState(stored.StateRecords())
		if err == nil {
			_, err = s.Streams.Out.Write(file)
		}
		return err
	default:
		return failure.Error("Unknown format",
			"There is no format %q of states.%s Give json or %s.", format, nearest.DidYouMean(format, []string{"json", clientFormat}), clientFormat)
	}
}

func pushCommand() *session.Command {
	var force bool
	return &session.Command{
		Name:    "push",
		Args:    "FILE",
		Summary: "Replaces the state by a file that \"cairn state pull\" or a failed apply has written.",
		Long: `
Reads files of clients of the RPC API, too. Refuses a file of another lineage or of none, one that
is older than the state, and a name that is none of the deployments. The state that is replaced
stays in the history. FILE may be - for standard input.`,
		Example: "cairn state push errored.cairnstate.json",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&force, "force", false, "push also an older state, one of another lineage, or that of a deployment that there is not")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			doc, err := readStateDocument(ctx, s, args[0])
			if err != nil {
				return 0, err
			}
			changed, err := s.Stack().StateChanges().Push(ctx, doc, force)
			return endChange(s, changed, err)
		},
	}
}

func readStateDocument(ctx context.Context, s *session.Session, path string) (*deployment.Document, error) {
	src, err := readInput(s, path)
	if err != nil {
		return nil, err
	}
	keys, err := s.Stack().Env().Keys()
	if err != nil {
		return nil, err
	}
	return deployment.ParseDocument(ctx, src, describeInput(path), keys)
}

// readInput reads a file, or standard input for "-".
func readInput(s *session.Session, path string) ([]byte, error) {
	var src []byte
	var err error
	if path == "-" {
		src, err = io.ReadAll(s.Streams.In)
	} else {
		src, err = os.ReadFile(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.Error("File not found", "There is no file %s.", path)
	case err != nil:
		return nil, failure.Error("Unreadable file", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	return src, nil
}

func describeInput(path string) string {
	if path == "-" {
		return "Standard input"
	}
	return path
}

func exportCommand() *session.Command {
	return &session.Command{
		Name:    "export",
		Args:    "COMPONENT",
		Summary: "Writes the state of one component as a plain Terraform state.",
		Example: "cairn state export component.network > terraform.tfstate",
		MinArgs: 1, MaxArgs: 1,
		Flags: session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			doc, err := s.Stack().StateChanges().Export(ctx, args[0])
			if err != nil {
				return 0, err
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, doc, "", "  "); err != nil {
				return 0, err
			}
			s.Print("%s\n", indented.String())
			return cmdline.ExitOK, nil
		},
	}
}

func importCommand() *session.Command {
	return &session.Command{
		Name:    "import",
		Args:    "COMPONENT FILE",
		Summary: "Makes a plain Terraform state the state of one component.",
		Long: `
The configuration must declare the component. Its earlier content of the state is replaced; the history keeps it. FILE
may be - for standard input.
Plan afterwards: the plan shows whether the state fits the component.`,
		Example: "cairn state import component.network terraform.tfstate",
		MinArgs: 2, MaxArgs: 2,
		Flags: session.LockFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			src, err := readInput(s, args[1])
			if err != nil {
				return 0, err
			}
			changed, err := s.Stack().StateChanges().Import(ctx, args[0], src, describeInput(args[1]))
			return endChange(s, changed, err)
		},
	}
}

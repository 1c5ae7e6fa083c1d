// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func statePullCommand() *session.Command {
	return &session.Command{
		Name:    "pull",
		Summary: "Writes the whole state to standard output, to be kept or moved.",
		Long: `
The document holds sensitive values. "cairn state push" reads it; to look into a state, use "cairn show -json".`,
		Example: "cairn state pull > backup.json",
		Flags:   session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			stored, err := s.Stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			return cmdline.ExitOK, jsonview.WriteDocument(s.Streams.Out, stored.Document(), true)
		},
	}
}

func statePushCommand() *session.Command {
	var force bool
	return &session.Command{
		Name:    "push",
		Args:    "FILE",
		Summary: "Replaces the state by what \"cairn state pull\" or a failed apply has written.",
		Long: `
Refuses a file of another lineage, and one that is older than the state. The state that is replaced stays in the
history. FILE may be - for standard input.`,
		Example: "cairn state push errored.cairnstate.json",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&force, "force", false, "push also an older state, or one of another lineage")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			document, err := readStateDocument(s, args[0])
			if err != nil {
				return 0, err
			}
			push := func(stored *deployment.Stored) (string, map[string][]byte, error) {
				if err := checkPush(document, stored); err != nil && !force {
					return "", nil, err
				}
				if stored.Lineage == "" {
					stored.Lineage = document.Lineage
				}
				if len(document.Secret) > 0 {
					if err := stored.AdoptSecret(ctx, document.Secret); err != nil {
						return "", nil, err
					}
				}
				return "state push", statestore.Changes(stored.Records, document.Records), nil
			}
			return changeStateAs(ctx, s, stateChange{locked: "state push", completes: document.Secret, changes: push})
		},
	}
}

func checkPush(document *deployment.Document, stored *deployment.Stored) error {
	switch {
	case stored.Lineage == "":
		return nil
	case document.Lineage != stored.Lineage:
		return failure.Error("Other lineage", "The file has lineage %s and the state has %s: they are the states of different things. "+
			"If the file is to replace the state nevertheless, use -force.", document.Lineage, stored.Lineage)
	case document.Serial < stored.Serial:
		return failure.Error("Older state", "The file has serial %d and the state is at serial %d: something was changed since. "+
			"If the file is to replace the state nevertheless, use -force.", document.Serial, stored.Serial)
	}
	return nil
}

func readStateDocument(s *session.Session, path string) (*deployment.Document, error) {
	src, err := readInput(s, path)
	if err != nil {
		return nil, err
	}
	return deployment.ParseDocument(src, describeInput(path))
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
		return nil, failure.Error("File cannot be read", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	return src, nil
}

func describeInput(path string) string {
	if path == "-" {
		return "Standard input"
	}
	return path
}

func stateExportCommand() *session.Command {
	return &session.Command{
		Name:    "export",
		Args:    "COMPONENT",
		Summary: "Writes the state of one component as a plain Terraform state.",
		Example: "cairn state export component.network > terraform.tfstate",
		MinArgs: 1, MaxArgs: 1,
		Flags: session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			stored, err := s.Stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			target, err := stored.Find(args[0])
			switch {
			case err != nil:
				return 0, err
			case target.Resource != "":
				return 0, failure.Error("Wrong address", "Only whole components are exported. Give the address of a component instance.")
			case len(target.Component.Module) == 0:
				return 0, failure.Error("Nothing to export", "%s has no state of its own.", target.Component.Addr)
			}
			document, err := stackstate.ExportModule(target.Component)
			if err != nil {
				return 0, failure.Error("State cannot be exported", "The state of %s cannot be written as a plain Terraform state: %s.", target.Component.Addr, err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, document, "", "  "); err != nil {
				return 0, err
			}
			s.Print("%s\n", indented.String())
			return cmdline.ExitOK, nil
		},
	}
}

func stateImportCommand() *session.Command {
	return &session.Command{
		Name:    "import",
		Args:    "COMPONENT FILE",
		Summary: "Makes a plain Terraform state the state of one component.",
		Long: `
The configuration must declare the component. What it had in the state before is replaced; the history keeps it. FILE
may be - for standard input.
Plan afterwards: the plan shows whether the state fits the component.`,
		Example: "cairn state import component.network terraform.tfstate",
		MinArgs: 2, MaxArgs: 2,
		Flags: session.LockFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			addr, resource, err := deployment.ParseAddress(args[0])
			if err == nil && resource != "" {
				err = failure.Error("Wrong address", "A state is imported into a whole component. Give the address of a component instance.")
			}
			if err != nil {
				return 0, err
			}
			if err := checkDeclared(s, addr); err != nil {
				return 0, err
			}
			document, err := readTerraformState(s, args[1])
			if err != nil {
				return 0, err
			}
			imported, err := stackstate.ImportModule(addr, document)
			if err != nil {
				return 0, failure.Error("Not a Terraform state", "%s cannot be read: %s.", describeInput(args[1]), err)
			}
			return changeState(ctx, s, "state import", func(stored *deployment.Stored) (map[string][]byte, error) {
				before := stored.State.Components[addr]
				after := imported
				if before != nil {
					copied := *before
					copied.Module, copied.Outputs = imported.Module, imported.Outputs
					after = &copied
				}
				return stackstate.ComponentRecords(before, after)
			})
		},
	}
}

// checkDeclared fails if no block of the configuration declares a component instance, or removes it, so that its state would be left over. Whether
// for_each has a key takes values, and is not looked at.
func checkDeclared(s *session.Session, addr stackaddrs.AbsComponentInstance) error {
	config, diags := s.Stack().Config()
	if config == nil {
		return diags
	}
	component, names := findComponent(config, addr)
	switch {
	case component == nil && (diags.HasErrors() || isRemoved(config, addr)):
		return failure.AsError(diags) // with mistakes it may be declared all the same
	case component == nil:
		return failure.Error("Component not declared", "The configuration has no %s, so its state would be left over, and planning would be an error.%s Declare it first.",
			addr, nearest.DidYouMean(stackaddrs.ConfigComponentOf(addr).String(), names))
	case component.ForEach == nil && addr.Item.Key != stackaddrs.NoKey:
		return failure.Error("Component not declared", "%s has no for_each, and so no instance %s. Leave out the key.", stackaddrs.ConfigComponentOf(addr), addr.Item.Key)
	case component.ForEach != nil && addr.Item.Key == stackaddrs.NoKey:
		return failure.Error("Component not declared", "%s has for_each: give the key of one instance, like '%s[\"key\"]'.", stackaddrs.ConfigComponentOf(addr), addr)
	}
	return nil
}

// findComponent returns the block of a component instance, or nil, and the addresses of all component blocks.
func findComponent(config *stackconfig.Config, addr stackaddrs.AbsComponentInstance) (found *stackconfig.Component, names []string) {
	config.Walk(func(stack *stackconfig.Stack) {
		for name, component := range stack.Components {
			at := stackaddrs.ConfigComponent{Stack: stack.Addr, Item: stackaddrs.Component{Name: name}}
			names = append(names, at.String())
			if at == stackaddrs.ConfigComponentOf(addr) {
				found = component
			}
		}
	})
	return found, names
}

// isRemoved reports whether a removed block names a component, or a stack that it is in.
func isRemoved(config *stackconfig.Config, addr stackaddrs.AbsComponentInstance) bool {
	removed := false
	config.Walk(func(stack *stackconfig.Stack) {
		for _, block := range stack.Removed {
			target := stack.Addr
			for _, step := range block.From.Stacks {
				target = target.Child(step.Name)
			}
			if block.From.Component == nil {
				removed = removed || target.Contains(addr.Stack.Config())
				continue
			}
			removed = removed || target == addr.Stack.Config() && block.From.Component.Name == addr.Item.Component.Name
		}
	})
	return removed
}

// readTerraformState reads the state of a Terraform configuration.
func readTerraformState(s *session.Session, path string) (*tfstate.Document, error) {
	src, err := readInput(s, path)
	if err != nil {
		return nil, err
	}
	document, err := tfstate.Parse(src)
	if other, ok := errors.AsType[*tfstate.VersionError](err); ok {
		if version, err := strconv.Atoi(other.Version); err == nil && version != 0 {
			return nil, failure.Error("Unsupported Terraform state", "%s has format version %d; only version %d can be imported. "+
				"A current Terraform rewrites it with: terraform refresh", describeInput(path), version, tfstate.Version)
		}
	}
	switch {
	case errors.Is(err, tfstate.ErrNotDocument), errors.As(err, new(*tfstate.VersionError)), err == nil && document.IsEmpty():
		return nil, failure.Error("Not a Terraform state", "%s is not the state of a Terraform configuration.", describeInput(path))
	case err != nil:
		return nil, failure.Error("Not a Terraform state", "%s cannot be read: %s.", describeInput(path), err)
	}
	if _, err := document.Objects(); err != nil {
		return nil, failure.Error("Not a Terraform state", "%s cannot be read: %s.", describeInput(path), err)
	}
	return document, nil
}

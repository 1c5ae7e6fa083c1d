// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginecmd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/release"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/settings"
)

// mirrorVariable is the environment variable that names where releases are fetched from.
const mirrorVariable = "CAIRN_ENGINE_MIRROR"

// Command returns the command engine with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:     "engine",
		Summary:  "Shows which terraform and tofu binaries there are, and installs releases of them.",
		Example:  "cairn engine list\ncairn engine install tofu",
		Commands: []*session.Command{installCommand(), listCommand()},
	}
}

// installFlags are the options of "engine install".
type installFlags struct {
	mirror string
	key    cmdline.File
}

func installCommand() *session.Command {
	var flags installFlags
	return &session.Command{
		Name:    "install",
		Args:    "[terraform|tofu] [VERSION]",
		Summary: "Installs a verified release of terraform or tofu for this user.",
		Long: `
Without a program it installs the one that cairn.hcl or .terraform-version asks for, else tofu. VERSION is a
version, a constraint such as '>= 1.11, < 2', or latest. Without it, it is the requirement
of the program in cairn.hcl or .terraform-version, else the newest release.

The checksum of the download and the maker's signature are checked. It is installed next to other versions, in a
directory of the user or the one in CAIRN_ENGINE_DIR. Engines on PATH are preferred to it: "cairn engine list" says
which one is used.

A mirror has the files of the makers' sites below its URL: terraform/index.json, terraform/VERSION/...,
tofu/api.json, tofu/vVERSION/...`,
		Example: "cairn engine install\n" +
			"cairn engine install tofu 1.12.0\n" +
			"cairn engine install terraform '~> 1.11.0'\n" +
			"cairn engine install tofu -mirror=https://mirror.example.com/releases",
		MaxArgs: 2,
		Flags: func(f *session.Flags) {
			f.StringVar(&flags.mirror, "mirror", "", "fetch from below this `URL`, not from the maker")
			f.Var(&flags.key, "signing-key", "accept signatures by the OpenPGP public key in this `FILE` only, not the maker's")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			return installEngine(ctx, s, args, flags)
		},
	}
}

func installEngine(ctx context.Context, s *session.Session, args []string, flags installFlags) (int, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	req, err := installRequest(s, args, flags)
	if err != nil {
		return 0, err
	}
	installed, fresh, err := toolchain.Install(ctx, req)
	if err != nil {
		return 0, installProblem(ctx, req, err)
	}
	if fresh {
		s.Print("Installed %s %s: %s\n", installed.Info.Name, installed.Info.Version, installed.Path)
	} else {
		s.Print("%s %s is installed already: %s\n", failure.Capitalize(installed.Info.Name), installed.Info.Version, installed.Path)
	}
	noteOtherEngine(ctx, s, installed)
	return cmdline.ExitOK, nil
}

// installRequest combines arguments, options and settings.
func installRequest(s *session.Session, args []string, flags installFlags) (toolchain.InstallRequest, error) {
	var req toolchain.InstallRequest
	read, err := s.Stack().Env().Settings()
	if err != nil {
		return req, err
	}
	required, err := s.Stack().Engines().Requirements()
	if err != nil {
		return req, err
	}
	given := ""
	if len(args) > 0 && settings.Program(args[0]) != "" {
		req.Program, args = args[0], args[1:]
	}
	switch {
	case len(args) > 1:
		return req, failure.Error("Unknown engine", "There is no engine %q. Name terraform or tofu.", args[0])
	case len(args) == 1:
		given = args[0]
	}
	if req.Program == "" {
		req.Program = wantedProgram(s, required)
	}
	if req.Constraints, err = installConstraints(req.Program, given, required); err != nil {
		return req, err
	}
	if req.Home, err = toolchain.Home(); err != nil {
		return req, failure.Error("Engine installation failed", "%s", failure.Sentences(err.Error()))
	}
	req.Source, err = releaseSource(req.Program, flags, read)
	req.Identifier = toolchain.Identifier{Environ: os.Environ()}
	req.Progress = func(v string) { s.Note("Fetching %s %s\n", req.Program, v) }
	return req, err
}

// wantedProgram returns the program that the stack asks for.
func wantedProgram(s *session.Session, required []toolchain.Requirement) string {
	setting, _ := s.Stack().Engines().Setting()
	if program := settings.Program(setting); program != "" {
		return program
	}
	for _, r := range required {
		if r.Program != "" {
			return r.Program
		}
	}
	return toolchain.Tofu
}

// installConstraints returns the constraints on the version: the user's, else those of the stack.
func installConstraints(program, given string, required []toolchain.Requirement) ([]toolchain.Constraint, error) {
	if given != "" {
		constraint, err := toolchain.ParseConstraint(given)
		if err != nil {
			return nil, failure.Error("Invalid version", "%s.", failure.Capitalize(err.Error()))
		}
		return []toolchain.Constraint{constraint}, nil
	}
	var constraints, advised []toolchain.Constraint
	for _, r := range required {
		switch {
		case r.Program != "" && r.Program != program:
		case r.Invalid != "" && !r.Advisory:
			return nil, failure.Error("Invalid version file",
				"%s Or name a version here: cairn engine install %s VERSION.", failure.Sentences(r.Invalid), program)
		case r.Invalid != "":
		case r.Advisory:
			advised = append(advised, r.Constraint)
		default:
			constraints = append(constraints, r.Constraint)
		}
	}
	if len(constraints) == 0 {
		constraints = advised
	}
	return constraints, nil
}

func releaseSource(program string, flags installFlags, read settings.Settings) (release.Source, error) {
	source := release.Source{Program: program, Mirror: cmp.Or(flags.mirror, os.Getenv(mirrorVariable), read.Engine.Mirror)}
	if source.Mirror != "" {
		address, err := url.Parse(source.Mirror)
		if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
			return source, failure.Error("Invalid mirror",
				"%q is not the URL of a mirror. Give one that begins with https:// and has the releases below it.", source.Mirror)
		}
	}
	if flags.key != "" {
		key, err := os.ReadFile(string(flags.key))
		if err != nil {
			return source, failure.Error("Unreadable signing key", "The file given with -signing-key cannot be read: %s.", failure.Reason(err))
		}
		source.Key = string(key)
	}
	return source, nil
}

// installProblem makes a diagnostic of the reason why nothing was installed.
func installProblem(ctx context.Context, req toolchain.InstallRequest, err error) error {
	var tooOld *toolchain.TooOldError
	var none *toolchain.NoVersionError
	var file *fs.PathError
	var network *url.Error
	switch {
	case ctx.Err() != nil:
		return failure.Error("Operation interrupted", "Nothing was installed.")
	case errors.As(err, &tooOld):
		return failure.Error("Engine too old", "cairn does not work with %s %s; it needs version %s or newer. Nothing was installed.",
			tooOld.Info.Name, tooOld.Info.Version, tooOld.Minimum)
	case errors.As(err, &none):
		return failure.Error("No such release", "%s Nothing was installed.", failure.Sentences(err.Error()))
	case errors.Is(err, release.ErrUnverified):
		return failure.Error("Release verification failed",
			"%s. Nothing was installed. The download is damaged, or not the release that the maker has published: try again, "+
				"and if it happens again, ask whoever runs the server.", failure.Capitalize(failure.Reason(err)))
	case errors.As(err, &network):
		return failure.Error("Engine download failed",
			"%s. Nothing was installed. Check the network and its proxy (HTTPS_PROXY), or name a mirror with -mirror or %s.",
			failure.Capitalize(err.Error()), mirrorVariable)
	case errors.As(err, &file):
		return failure.Error("Engine installation failed",
			"Nothing can be written to %s: %s. Name another directory in %s.", req.Home, failure.Reason(err), toolchain.HomeVariable)
	default:
		return failure.Error("Engine installation failed",
			"%s. Nothing was installed. \"cairn engine install %s latest\" installs the newest release.",
			failure.Capitalize(err.Error()), req.Program)
	}
}

// noteOtherEngine says so if commands here will use another engine than the installed one.
func noteOtherEngine(ctx context.Context, s *session.Session, installed *toolchain.Candidate) {
	search, err := s.Stack().Engines().Search()
	if err != nil {
		return // the next command reports it
	}
	used, err := search.Find(ctx)
	if err != nil || used.Path == installed.Path {
		return
	}
	s.Note("Commands in this directory use %s %s, which comes first: %s\n", used.Info.Name, used.Info.Version, used.Path)
	s.Note("To use this engine, write engine { binary = %q } into %s, or set %s.\n", installed.Path, settings.File, engines.Variable)
}

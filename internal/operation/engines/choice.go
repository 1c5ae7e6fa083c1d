// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"cmp"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Variable is of the environment, and names an engine.
const Variable = "CAIRN_ENGINE"

// Native and Auto are settings of an engine that are not binaries: the one that evaluates modules
// in this process, and the one that leaves modules unsupported by the native one to a binary.
// AnyBinary is the setting for the first binary that there is.
const (
	Native    = native.Name
	Auto      = "auto"
	AnyBinary = "binary"
)

// usual is the setting if nobody names an engine.
const usual = Auto

// Setting returns the path or name of the engine that was asked for, and the source of that
// setting; empty if there is none, or if any binary will do.
func (s *Stack) Setting() (setting, from string) {
	if setting, from = s.written(); setting == AnyBinary {
		return "", ""
	}
	return setting, from
}

// written is the setting of an option, the environment or the settings file.
func (s *Stack) written() (setting, from string) {
	switch {
	case s.request.Named != "":
		return s.request.Named, s.request.NamedBy
	case s.env.Getenv(Variable) != "":
		return s.program(s.env.Getenv(Variable)), Variable
	}
	if named := s.settings().Binary; named != "" {
		return s.program(named), settings.File
	}
	return "", ""
}

// settings are the engine settings of the settings file. Mistakes in the file are reported where an
// engine is opened.
func (s *Stack) settings() settings.Engine {
	read, _ := s.env.Settings() //nolint:errcheck // see above
	return read.Engine
}

// Kind returns the setting of an engine that is not a binary, [Native] or [Auto], or "".
func (s *Stack) Kind() string {
	setting, _ := s.written()
	switch {
	case setting != "":
	case kinds[s.madePlan] != nil:
		setting = cmp.Or(kinds[s.madePlan].applier, s.madePlan)
	case s.madePlan == "" && s.required() == "": // a requirement is about a binary
		setting = usual
	}
	if kinds[setting] != nil {
		return setting
	}
	return ""
}

// required says where the settings require a version of a binary, whichever it is; "" if they
// don't.
func (s *Stack) required() string {
	if required := s.settings().Requirement; required != nil {
		return required.Place
	}
	return ""
}

// chosenBy returns in words the source of the engine's name or version, empty if only the version
// file has one.
func (s *Stack) chosenBy() string {
	if _, from := s.Setting(); from != "" {
		return from + " names it"
	}
	if place := s.required(); place != "" {
		return place + " says which version is used"
	}
	return ""
}

// Reason says why the session that is open is that of its engine. Which one a component gets then,
// a [engine.Chooser] says.
func (s *Stack) Reason() engine.Reason {
	setting, from := s.written()
	switch {
	case s.request.Given != nil:
		return engine.Reason{Code: engine.ReasonNamed, Text: "The caller has brought it."}
	case setting == AnyBinary:
		return engine.Reason{Code: engine.ReasonNamed, Text: from + " asks for a binary, and this is the first one that can be used."}
	case setting != "":
		return engine.Reason{Code: engine.ReasonNamed, Text: from + " names " + setting + "."}
	case s.madePlan != "":
		return engine.Reason{Code: engine.ReasonOfPlan, Text: "It has made the plan."}
	case s.required() != "":
		return engine.Reason{Code: engine.ReasonRequired, Text: s.required() + " requires a version of it."}
	}
	return engine.Reason{
		Code: engine.ReasonUsual,
		Text: "Nobody has named an engine: modules that the native engine supports are its, and others are those of terraform or tofu.",
	}
}

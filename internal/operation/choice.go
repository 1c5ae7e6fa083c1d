// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/operation/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// NativeEngine and AutoEngine are settings of an engine that are not binaries: the one that evaluates modules in this process, and the one that leaves to a binary
// what the native one does not support. AnyBinary is the setting for the first binary that there is.
const (
	NativeEngine = native.Name
	AutoEngine   = "auto"
	AnyBinary    = "binary"
)

// usualEngine is the setting if nobody names an engine.
const usualEngine = AutoEngine

// EngineSetting returns the path or name of the engine that was asked for, and who has named it; empty if nobody has, or if any binary will do.
func (s *Stack) EngineSetting() (setting, from string) {
	if setting, from = s.writtenSetting(); setting == AnyBinary {
		return "", ""
	}
	return setting, from
}

// writtenSetting is what an option, the environment or the settings file says.
func (s *Stack) writtenSetting() (setting, from string) {
	switch {
	case s.opts.Engine != "":
		return s.opts.Engine, s.opts.EngineFrom
	case s.getenv(EngineVariable) != "":
		return s.program(s.getenv(EngineVariable)), EngineVariable
	case s.settings != nil && s.settings.Engine.Binary != "":
		return s.program(s.settings.Engine.Binary), settings.File
	}
	return "", ""
}

// EngineKind returns the setting of an engine that is not a binary, [NativeEngine] or [AutoEngine], or "".
func (s *Stack) EngineKind() string {
	_, _ = s.Settings() //nolint:errcheck // they are reported where an engine is opened
	return s.engineKind()
}

func (s *Stack) engineKind() string {
	setting, _ := s.writtenSetting()
	switch {
	case setting != "":
	case s.madePlan == NativeEngine:
		setting = AutoEngine // who knows what has made the rest of the plan
	case s.madePlan == "" && s.engineRequired() == "": // what is required is about a binary
		setting = usualEngine
	}
	if setting == NativeEngine || setting == AutoEngine {
		return setting
	}
	return ""
}

// engineRequired says where the settings require a version of a binary, whichever it is; "" if they don't.
func (s *Stack) engineRequired() string {
	if s.settings == nil || s.settings.Engine.Requirement == nil {
		return ""
	}
	return s.settings.Engine.Requirement.Place
}

// engineChosenBy says what names an engine or its version, empty for nothing but the version file.
func (s *Stack) engineChosenBy() string {
	if _, from := s.EngineSetting(); from != "" {
		return from + " names it"
	}
	if place := s.engineRequired(); place != "" {
		return place + " says which version is used"
	}
	return ""
}

// EngineReason says why the session that is open is that of its engine. Which one a component gets then, a [engine.Chooser] says.
func (s *Stack) EngineReason() engine.Reason {
	setting, from := s.writtenSetting()
	switch {
	case s.opts.ModulesEngine != nil:
		return engine.Reason{Code: engine.ReasonNamed, Text: "The caller has brought it."}
	case setting == AnyBinary:
		return engine.Reason{Code: engine.ReasonNamed, Text: from + " asks for a binary, and this is the first one that can be used."}
	case setting != "":
		return engine.Reason{Code: engine.ReasonNamed, Text: from + " names " + setting + "."}
	case s.madePlan != "":
		return engine.Reason{Code: engine.ReasonOfPlan, Text: "It has made the plan."}
	case s.engineRequired() != "":
		return engine.Reason{Code: engine.ReasonRequired, Text: s.engineRequired() + " requires a version of it."}
	}
	return engine.Reason{
		Code: engine.ReasonUsual,
		Text: "Nobody has named an engine: modules that the native engine supports are its, and others are those of terraform or tofu.",
	}
}

// UseEngineOf has a saved plan applied by the engines that made it, unless somebody names another one. It is called before anything else is done with the stack.
func (s *Stack) UseEngineOf(plan *stackplan.Plan) {
	s.madePlan = plan.Engine.Name
	s.plannedBinary = settings.Program(s.madePlan)
	for _, component := range plan.Components {
		s.plannedBinary = cmp.Or(s.plannedBinary, settings.Program(component.Engine.Name))
	}
}

// openEngine returns the engine that the settings name.
func (s *Stack) openEngine(ctx context.Context) (engine.Engine, error) {
	kind := s.EngineKind()
	if _, err := s.Settings(); err != nil {
		return nil, err
	}
	if kind == "" {
		return s.openBinary(ctx)
	}
	found, err := s.openNative()
	if err != nil || kind == NativeEngine {
		return found, err
	}
	return auto.New(auto.Options{
		Native: found,
		Binary: func(ctx context.Context) (engine.Engine, error) { return s.openBinary(ctx) },
		Left:   s.hasRuns,
	}), nil
}

// moduleReader returns the engine as which modules are read, as far as it is known.
func (s *Stack) moduleReader(ctx context.Context) engine.Info {
	if s.EngineKind() != "" {
		return engine.Info{Name: NativeEngine}
	}
	if found, err := s.findBinary(ctx); err == nil { // otherwise prepare reports the error
		return found.Info
	}
	return engine.Info{}
}

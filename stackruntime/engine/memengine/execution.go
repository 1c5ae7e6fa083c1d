// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// execution is one run through a module, to plan or to apply it.
type execution struct {
	inputs    map[string]cty.Value // one for each variable, final
	timestamp time.Time
	applying  bool

	// settle plans or applies one resource instance and returns its object. It is called after the
	// dependencies of the instance were settled, and never for an instance that depends on one with
	// errors.
	settle func(resourceInstance) (cty.Value, hcl.Diagnostics)

	// enter is called for each module instance that the configuration has. May
	// be nil.
	enter func(module string)

	// deferInstance is called in place of settle for an instance that can't be
	// planned yet. All instances of a resource whose number is not known are one with
	// the wildcard key. Nil if nothing is to be deferred.
	deferInstance func(r resourceInstance, reason string)

	// deferred are the addresses of resources that the plan which is applied
	// has deferred.
	deferred map[string]bool
}

// Why instances are deferred, as in docs/language.md, section 4.8.
const (
	reasonInstanceCount = "instance_count_unknown"
	reasonPrerequisite  = "deferred_prereq"
	reasonProvider      = "provider_config_unknown"
)

// outcome is the result of a run through a module.
type outcome struct {
	outputs map[string]cty.Value // those that could be computed
	checks  []engine.CheckResult
}

// resourceInstance is the configuration of one resource instance.
type resourceInstance struct {
	module          string // address of the module instance, "" for the root module
	name            string
	key             stackaddrs.InstanceKey
	input           cty.Value // marked where sensitive
	triggersReplace cty.Value
	dependencies    []string // addresses of resources, sorted
	createFirst     bool     // create_before_destroy
	keep            bool     // prevent_destroy
	ignoreInput     bool     // ignore_changes
	ignoreTriggers  bool
	subject         *hcl.Range
}

func (r resourceInstance) addr() string {
	return resourceAddr(r.module, r.name) + r.key.String()
}

// resourceAddr returns the address of a resource.
func resourceAddr(module, name string) string {
	if module == "" {
		return dataResourceType + "." + name
	}
	return module + "." + dataResourceType + "." + name
}

// dataResourceType is the one resource type of this engine.
const dataResourceType = "terraform_data"

// sentence turns the text of an error into a sentence.
func sentence(err error) string {
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if last, _ := utf8.DecodeLastRuneInString(text); !unicode.IsPunct(last) {
		text += "."
	}
	return text
}

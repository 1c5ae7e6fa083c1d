// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// execution is one run through a module, to plan or to apply it.
type execution struct {
	inputs map[string]cty.Value // one for each variable, final

	// settle plans or applies one resource instance and returns its object. It is called after the
	// dependencies of the instance were settled, and never for an instance that depends on one with
	// errors.
	settle func(resourceInstance) (cty.Value, hcl.Diagnostics)

	// deferInstance is called in place of settle for an instance that can't be planned yet. Nil if
	// nothing is to be deferred.
	deferInstance func(r resourceInstance, reason string)
}

// Why instances are deferred, as in docs/language.md, section 4.8.
const (
	reasonPrerequisite = "deferred_prereq"
	reasonProvider     = "provider_config_unknown"
)

// resourceInstance is the configuration of one resource instance.
type resourceInstance struct {
	name            string
	input           cty.Value // marked where sensitive
	triggersReplace cty.Value
	dependencies    []string // addresses of resources, sorted
}

// at returns the address of the instance.
func (r resourceInstance) at() stackaddrs.ResourceInstance {
	return stackaddrs.ResourceInstance{
		Resource: stackaddrs.Resource{Mode: stackaddrs.ManagedResource, Type: dataResourceType, Name: r.name},
	}
}

func (r resourceInstance) addr() string { return dataResourceType + "." + r.name }

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

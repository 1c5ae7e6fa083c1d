// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// generator makes random messages for a server.
type generator struct {
	*rand.Rand
	h *hostile
}

// bytes returns a message that is none.
func (g *generator) bytes() any {
	b := make([]byte, g.IntN(200))
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// message returns a valid message with random contents.
func (g *generator) message(descriptor protoreflect.MessageDescriptor) *dynamicpb.Message {
	message := dynamicpb.NewMessage(descriptor)
	g.fill(message, 4)
	return message
}

func (g *generator) fill(message protoreflect.Message, depth int) {
	for field := range each(message.Descriptor().Fields()) {
		switch {
		case g.IntN(5) == 0, depth == 0 && field.Message() != nil:
			continue // absent
		case field.IsMap():
			entries := message.Mutable(field).Map()
			for range g.IntN(3) {
				value := entries.NewValue()
				if field.MapValue().Message() != nil {
					g.fill(value.Message(), depth-1)
				} else {
					value = g.value(field.MapValue())
				}
				entries.Set(g.value(field.MapKey()).MapKey(), value)
			}
		case field.IsList():
			list := message.Mutable(field).List()
			for range g.IntN(3) {
				if field.Message() != nil {
					g.fill(list.AppendMutable().Message(), depth-1)
				} else {
					list.Append(g.value(field))
				}
			}
		case field.Message() != nil:
			g.fill(message.Mutable(field).Message(), depth-1)
		default:
			message.Set(field, g.value(field))
		}
	}
}

// value returns a random value of a field that is no message.
func (g *generator) value(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(g.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(g.IntN(field.Enum().Values().Len() + 2)))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(g.Uint32()))
	case protoreflect.Int64Kind:
		if strings.HasSuffix(string(field.Name()), "_handle") {
			return protoreflect.ValueOfInt64(g.handle(field.Name()))
		}
		return protoreflect.ValueOfInt64(int64(g.Uint64()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(g.content()))
	}
	return protoreflect.ValueOfString(g.text(field.Name()))
}

// handle returns a handle for a field: mostly one that a response has had in such a field.
func (g *generator) handle(name protoreflect.Name) int64 {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	var same, all []int64
	for kind, handles := range g.h.mu.handles {
		all = append(all, handles[max(0, len(handles)-10):]...)
		if strings.HasSuffix(string(kind), string(name)) {
			same = append(same, handles[max(0, len(handles)-10):]...)
		}
	}
	switch n := g.IntN(10); {
	case n < 6 && len(same) > 0:
		return same[g.IntN(len(same))]
	case n < 8 && len(all) > 0:
		return all[g.IntN(len(all))]
	}
	return []int64{0, -1, 1, math.MaxInt64, math.MinInt64, int64(g.Uint64())}[g.IntN(6)]
}

// text returns something for a field. Names of files are those of nothing, and stay in the
// directory of the server.
func (g *generator) text(name protoreflect.Name) string {
	choices := texts[name]
	if choices == nil {
		choices = texts[""]
	}
	text := choices[g.IntN(len(choices))]
	switch g.IntN(200) {
	case 0:
		return strings.Repeat(text+".", 1<<16)
	case 1:
		return strings.Repeat("[", 1<<12) + text
	case 2:
		return "x" + strings.Repeat("\u0301", 1<<20)
	}
	return text
}

// texts are by names of fields.
var texts = map[protoreflect.Name][]string{
	"": {
		"",
		"x",
		"component.a",
		"component.a[\"k\"]",
		"a/b",
		"1.0.0",
		"h1:x",
		"linux_amd64",
		"..",
		"\x00",
		"%s",
		"${",
		"component.a.terraform_data.main",
	},

	"local_path":           {".", "bundle", "none", "", "stack\x00"},
	"cache_dir":            {"cache", "", "none/none"},
	"config_path":          {".", "none", ""},
	"local_mirror_dir":     {"mirror", ""},
	"network_mirror_url":   {"", "x", "https://127.0.0.1:1/", "file:///none"},
	"url":                  {"", "x", "https://127.0.0.1:1/x.zip", "git::https://127.0.0.1:1/x.git", "./none", "::"},
	"tfpolicy_plugin_path": {"", "none"},
	"source": {
		"./stack",
		"./fake",
		"./stack",
		"./",
		"../none",
		"x",
		"git::https://127.0.0.1:1/x.git",
		"127.0.0.1:1/a/b/c",
		"./stack\x00",
		"./a//b",
	},
	"versions":      {"", "", "1.0.0", "~> 1.0", "x", strings.Repeat("1.", 1000)},
	"source_addr":   {"127.0.0.1:1/a/b", "127.0.0.1:1/a/b/c", "terraform.io/builtin/terraform", "", "x", "a/b/c/d/e", "\x00"},
	"provider_addr": {"terraform.io/builtin/terraform", "127.0.0.1:1/a/b", "x", ""},
	"type_url": {
		"type.googleapis.com/tfstackdata1.PlanHeader", "type.googleapis.com/tfstackdata1.PlanApplyable",
		"type.googleapis.com/tfstackdata1.StateResourceInstanceObjectV1", "type.googleapis.com/tfstackdata1.PlanComponentInstance",
		"type.googleapis.com/tfstackdata1.PlanResourceInstanceChangePlanned", "type.googleapis.com/cairn.plan.v1.Plan", "", "x",
	},
	"key": {
		"CMPTcomponent.a", "RSRCcomponent.a,terraform_data.main,cur",
		"RSRCcomponent.a[\"k,\"],module.m[0].terraform_data.main,00000000", "OTPToutput.x", "VRBLvar.x", "xyzWx", "xyzwx",
		"XYZWx", "", "RSRC", "RSRC,,,,", "CMPT\"", "name", "number",
	},
}

// content returns bytes: of values, of states, of expressions, or of nothing.
func (g *generator) content() string {
	choices := []string{
		"", "\xc0", "\x92\xc4\x08\"number\"\x02", "\x92\xc4\x08\"string\"\xa1x", "\x92\xc4\x09\"dynamic\"\xc0",
		"\x92\xc4\x0f[\"list\",\"bool\"]\xdd\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff", "\xc7\x00\x00", "\xd4\x00\x00", "{}",
		`{"version":4,"resources":[]}`, `{"version":4,"resources":[{}]}`, "var.name", "component.a.name", "[for",
		strings.Repeat("[", 10000), strings.Repeat("\x91", 10000), strings.Repeat("(", 10000) + "1",
		`{"a":` + strings.Repeat("[", 100000), "\n\x051.0.0", "\x08\x01", "1 + 1", "[for i in range(1000): i]", "sum([])",
		`file("main.tf")`,
	}
	if g.IntN(10) == 0 {
		return string(g.bytes().([]byte))
	}
	return choices[g.IntN(len(choices))]
}

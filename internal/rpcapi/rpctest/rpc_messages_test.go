// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The server's description of its messages is the table of testdata/protocol.txt, with nothing
// missing and nothing more.
func TestRPCMessages(t *testing.T) {
	t.Run("M-01 table of messages", func(t *testing.T) {
		text, err := os.ReadFile("testdata/protocol.txt")
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(strings.Lines(string(text)))
		got := describe(t, start(t, options{}).dial())
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-testdata/protocol.txt +server):\n%s", diff)
		}
	})
}

// reflection is a stream on which a server describes its services.
type reflection struct {
	t      testing.TB
	stream reflectionpb.ServerReflection_ServerReflectionInfoClient
}

func reflect(t testing.TB, conn *grpc.ClientConn) reflection {
	t.Helper()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return reflection{t, stream}
}

func (r reflection) ask(request *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
	r.t.Helper()
	if err := r.stream.Send(request); err != nil {
		r.t.Fatal(err)
	}
	response, err := r.stream.Recv()
	if err != nil {
		r.t.Fatal(err)
	}
	return response
}

// services returns the names of the services of a server, sorted.
func services(t testing.TB, conn *grpc.ClientConn) []string {
	t.Helper()
	response := reflect(t, conn).ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	slices.Sort(names)
	return names
}

// describe returns the lines of all services of the protocol, as testdata/protocol.txt has them,
// sorted.
func describe(t testing.TB, conn *grpc.ClientConn) []string {
	t.Helper()
	asked := reflect(t, conn)
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, service := range services(t, conn) {
		if !strings.HasPrefix(service, "terraform1.") {
			continue
		}
		response := asked.ask(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service},
		})
		for _, encoded := range response.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(encoded, file); err != nil {
				t.Fatal(err)
			}
			files[file.GetName()] = file
		}
	}
	registry, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: slices.Collect(mapValues(files))})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	registry.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "terraform1") {
			lines = append(lines, describeFile(file)...)
		}
		return true
	})
	slices.Sort(lines)
	return lines
}

func describeFile(file protoreflect.FileDescriptor) []string {
	var lines []string
	for service := range each(file.Services()) {
		for method := range each(service.Methods()) {
			lines = append(lines, fmt.Sprintf("rpc %s/%s %s%s %s%s\n", service.FullName(), method.Name(),
				word("stream", method.IsStreamingClient()), method.Input().FullName(), word("stream", method.IsStreamingServer()),
				method.Output().FullName()))
		}
	}
	lines = append(lines, describeEnums(file.Enums())...)
	for message := range each(file.Messages()) {
		lines = append(lines, describeMessage(message)...)
	}
	return lines
}

func describeMessage(message protoreflect.MessageDescriptor) []string {
	if message.IsMapEntry() {
		return nil
	}
	var lines []string
	for field := range each(message.Fields()) {
		lines = append(lines, describeField(field))
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("message %s\n", message.FullName()))
	}
	for i := range message.ReservedRanges().Len() {
		reserved := message.ReservedRanges().Get(i)
		text := fmt.Sprint(reserved[0])
		if last := reserved[1] - 1; last != reserved[0] {
			text += fmt.Sprintf("-%d", last)
		}
		lines = append(lines, fmt.Sprintf("reserved %s %s\n", message.FullName(), text))
	}
	lines = append(lines, describeEnums(message.Enums())...)
	for nested := range each(message.Messages()) {
		lines = append(lines, describeMessage(nested)...)
	}
	return lines
}

func describeField(field protoreflect.FieldDescriptor) string {
	line := fmt.Sprintf("field %s %d %s %s%s", field.Parent().FullName(), field.Number(), field.Name(), word("repeated", field.IsList()),
		typeName(field))
	switch oneof := field.ContainingOneof(); {
	case field.HasOptionalKeyword():
		line += " optional"
	case oneof != nil:
		line += " oneof=" + string(oneof.Name())
	}
	return line + "\n"
}

func typeName(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return fmt.Sprintf("map<%s,%s>", typeName(field.MapKey()), typeName(field.MapValue()))
	case field.Message() != nil:
		return string(field.Message().FullName())
	case field.Enum() != nil:
		return string(field.Enum().FullName())
	}
	return field.Kind().String()
}

func describeEnums(enums protoreflect.EnumDescriptors) []string {
	var lines []string
	for enum := range each(enums) {
		for value := range each(enum.Values()) {
			lines = append(lines, fmt.Sprintf("enum %s %d %s\n", enum.FullName(), value.Number(), value.Name()))
		}
	}
	return lines
}

// word returns a word and a space, or nothing.
func word(text string, wanted bool) string {
	if wanted {
		return text + " "
	}
	return ""
}

// each iterates over a list of descriptors.
func each[T any](list interface {
	Len() int
	Get(i int) T
},
) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for i := range list.Len() {
			if !yield(list.Get(i)) {
				return
			}
		}
	}
}

// mapValues iterates over the values of a map in the order of its keys.
func mapValues[K cmp.Ordered, V any](m map[K]V) func(yield func(V) bool) {
	return func(yield func(V) bool) {
		keys := make([]K, 0, len(m))
		for key := range m {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if !yield(m[key]) {
				return
			}
		}
	}
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Protogen generates the Go code of all .proto files below a directory, each
// next to its source.
//
// It compiles the sources in process and runs protoc-gen-go and protoc-gen-go-grpc in the versions
// of this module, so nothing but the Go toolchain has to be installed. It is a module of its own to
// keep its requirements out of those of the runtime.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// plugins are the code generators, run one after the other over all files.
var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("protogen: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: protogen DIR")
	}
	if err := generate(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(ctx context.Context, dir string) error {
	sources, err := protoFiles(dir)
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, sources...)
	if err != nil {
		return fmt.Errorf("compiling: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: sources,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      withImports(files),
	}
	for _, plugin := range plugins {
		if err := runPlugin(ctx, plugin, request, dir); err != nil {
			return err
		}
	}
	return nil
}

// protoFiles returns the names of all .proto files relative to dir, sorted.
func protoFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	slices.Sort(names)
	return names, err
}

// withImports lists the descriptors of the files and of all they import, each
// after its imports as plugins expect them.
func withImports(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var list []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		imports := file.Imports()
		for i := range imports.Len() {
			add(imports.Get(i).FileDescriptor)
		}
		list = append(list, protodesc.ToFileDescriptorProto(file))
	}
	for _, file := range files {
		add(file)
	}
	return list
}

func runPlugin(ctx context.Context, name string, request *pluginpb.CodeGeneratorRequest, dir string) error {
	input, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding the request for %s: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, "go", "tool", name)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running %s: %w", name, err)
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return fmt.Errorf("decoding the response of %s: %w", name, err)
	}
	if response.Error != nil {
		return fmt.Errorf("%s: %s", name, response.GetError())
	}
	for _, file := range response.File {
		path := filepath.Join(dir, filepath.FromSlash(file.GetName()))
		content := withLicence(file.GetContent())
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withLicence puts the licence in front unless the generator has copied it
// from the source.
func withLicence(content string) string {
	const licence = "// Copyright (c) The cairn authors\n// SPDX-License-Identifier: MPL-2.0\n"
	if strings.HasPrefix(content, licence) {
		return content
	}
	return licence + "\n" + content
}

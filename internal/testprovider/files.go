// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// fileTypes are the types of objects that are about files, whose names are relative to where the
// process works.
func fileTypes() []*resourceType {
	return []*resourceType{
		{name: "fake_file", schema: objectSchema(attribute("filename", tftypes.String, required)), replaceOn: []string{"filename"}},
		{name: "fake_upload", schema: objectSchema(attribute("source", tftypes.String, optional))},
	}
}

// applyFile writes or removes the files of an object: next is null when it is removed.
func applyFile(t *resourceType, prior, next cty.Value) error {
	switch {
	case t.name == "fake_file" && next.IsNull():
		if err := os.Remove(stringArgument(prior, "filename")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case t.name == "fake_file":
		return writeFile(stringArgument(next, "filename"), stringArgument(next, "value"))
	case t.name == "fake_upload" && !next.IsNull() && stringArgument(next, "source") != "":
		_, err := os.ReadFile(stringArgument(next, "source"))
		return err
	}
	return nil
}

// readFile returns a fake_file with the content that the file has, null if it is gone. Others it
// returns as they are.
func readFile(t *resourceType, current cty.Value) (cty.Value, error) {
	if t.name != "fake_file" {
		return current, nil
	}
	content, err := os.ReadFile(stringArgument(current, "filename"))
	if errors.Is(err, fs.ErrNotExist) {
		return cty.NullVal(t.ty), nil
	}
	if err != nil {
		return cty.NilVal, err
	}
	attrs := current.AsValueMap()
	attrs["value"] = cty.StringVal(string(content))
	return cty.ObjectVal(attrs), nil
}

func writeFile(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o600)
}

// fileSource is a data source about files.
type fileSource struct {
	schema *tfprotov6.Schema
	read   func(ctx context.Context, args cty.Value) (result string, err error)
}

// fileSources returns the data sources about files by name. Each has a computed result.
func fileSources() map[string]fileSource {
	result := attribute("result", tftypes.String, computed)
	return map[string]fileSource{
		"fake_content": {schemaOf(nil, attribute("filename", tftypes.String, required), result), readContent},
		"fake_archive": {schemaOf(nil,
			attribute("source_dir", tftypes.String, optional), attribute("source_file", tftypes.String, optional),
			attribute("output_path", tftypes.String, required), result), readArchive},
		"fake_external": {schemaOf(nil, attribute("program", stringList, required), result), readExternal},
		"fake_chart":    {schemaOf(nil, attribute("chart", tftypes.String, required), result), readChart},
	}
}

func readContent(_ context.Context, args cty.Value) (string, error) {
	content, err := os.ReadFile(stringArgument(args, "filename"))
	return string(content), err
}

// readArchive writes names and contents of files into one file, and returns its hash.
func readArchive(_ context.Context, args cty.Value) (string, error) {
	var content strings.Builder
	add := func(root, name string) error {
		data, err := os.ReadFile(filepath.Join(root, name))
		fmt.Fprintf(&content, "%s\n%s\n", filepath.ToSlash(name), data)
		return err
	}
	var err error
	if file := stringArgument(args, "source_file"); file != "" {
		err = add(filepath.Dir(file), filepath.Base(file))
	} else {
		err = eachFile(stringArgument(args, "source_dir"), add)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(content.String()))
	return hex.EncodeToString(sum[:]), writeFile(stringArgument(args, "output_path"), content.String())
}

func eachFile(dir string, do func(root, name string) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return do(dir, name)
	})
}

func readExternal(ctx context.Context, args cty.Value) (string, error) {
	var argv []string
	for _, word := range args.GetAttr("program").AsValueSlice() {
		argv = append(argv, word.AsString())
	}
	if len(argv) == 0 {
		return "", errors.New("there is no program")
	}
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput() //nolint:gosec // for tests
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// readChart returns the templates of a directory.
func readChart(_ context.Context, args cty.Value) (string, error) {
	var content strings.Builder
	err := eachFile(filepath.Join(stringArgument(args, "chart"), "templates"), func(root, name string) error {
		data, err := os.ReadFile(filepath.Join(root, name))
		content.Write(data)
		return err
	})
	return content.String(), err
}

// readFileSource answers a request for a data source about files.
func (s *server) readFileSource(
	ctx context.Context, source fileSource, req *tfprotov6.ReadDataSourceRequest,
) (*tfprotov6.ReadDataSourceResponse, error) {
	ty := valueType(source.schema.ValueType())
	args, err := decode(req.Config, ty)
	if err != nil {
		return nil, err
	}
	record(Call{RPC: "ReadDataSource", Type: req.TypeName, values: map[string]cty.Value{"config": args}})
	resp := new(tfprotov6.ReadDataSourceResponse)
	result, err := source.read(ctx, args)
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Reading failed", err))
		return resp, nil
	}
	attrs := args.AsValueMap()
	attrs["result"] = cty.StringVal(result)
	resp.State, err = encode(cty.ObjectVal(attrs), ty)
	return resp, err
}

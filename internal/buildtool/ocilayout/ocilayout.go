// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package ocilayout writes container images of a single layer as a directory in the layout of the
// OCI, which crane, skopeo and podman read.
//
// An image is a tar archive and two small documents, so a module for that would bring more code
// than it saves. The same files always make the same image, byte by byte.
//
// Source: the image format of the Open Container Initiative, version 1.1.
package ocilayout

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Image is an image for one architecture of Linux.
type Image struct {
	Architecture string // as GOARCH
	Created      time.Time
	Files        []File // directories above them are made
	Config       Config
}

// File is a file or a directory in an image.
type File struct {
	Name    string // without a leading slash
	Mode    fs.FileMode
	Owner   Owner
	Content []byte // of a file
}

// Owner is the owner of a file; the zero value is root.
type Owner struct{ UID, GID int }

// Config says how a container is started.
type Config struct {
	User       string            `json:"User,omitempty"`
	Env        []string          `json:"Env,omitempty"`
	Entrypoint []string          `json:"Entrypoint,omitempty"`
	Cmd        []string          `json:"Cmd,omitempty"`
	WorkingDir string            `json:"WorkingDir,omitempty"`
	Labels     map[string]string `json:"Labels,omitempty"`
}

// The types of the parts of an image.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor names a part of an image by the hash of its content.
type descriptor struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Size      int       `json:"size"`
	Platform  *platform `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// index is a list of images.
type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

// Write writes images to a new directory, as one image for all their architectures.
func Write(dir string, images []Image) error {
	w := &writer{dir: dir}
	all := index{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{}}
	for _, image := range images {
		all.Manifests = append(all.Manifests, w.image(image))
	}
	w.file("index.json", w.encode(all))
	w.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return w.err
}

// writer writes the parts of images. Its first error ends all that follows.
type writer struct {
	dir string
	err error
}

func (w *writer) image(image Image) descriptor {
	layer, err := pack(image)
	if err != nil && w.err == nil {
		w.err = err
	}
	var compressed bytes.Buffer
	z, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(layer)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil && w.err == nil {
		w.err = err
	}
	config := w.document(configType, map[string]any{
		"created":      image.Created.UTC().Format(time.RFC3339),
		"architecture": image.Architecture,
		"os":           "linux",
		"config":       image.Config,
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{digest(layer)}},
		"history":      []any{map[string]any{"created": image.Created.UTC().Format(time.RFC3339)}},
	})
	manifest := w.document(manifestType, map[string]any{
		"schemaVersion": 2,
		"mediaType":     manifestType,
		"config":        config,
		"layers":        []descriptor{w.blob(layerType, compressed.Bytes())},
		"annotations":   image.Config.Labels,
	})
	manifest.Platform = &platform{image.Architecture, "linux"}
	return manifest
}

// pack returns the layer, whose files all have the time of the image.
func pack(image Image) ([]byte, error) {
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	made := map[string]bool{".": true}
	add := func(file File) error {
		header := &tar.Header{
			Name: file.Name, Mode: int64(file.Mode.Perm()), Uid: file.Owner.UID, Gid: file.Owner.GID,
			ModTime: image.Created.Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if file.Mode&fs.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
		if file.Mode.IsDir() {
			header.Name, header.Typeflag = file.Name+"/", tar.TypeDir
			made[file.Name] = true
		} else {
			header.Typeflag, header.Size = tar.TypeReg, int64(len(file.Content))
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(file.Content)
		return err
	}
	for _, file := range image.Files {
		var missing []string
		for parent := path.Dir(file.Name); !made[parent]; parent = path.Dir(parent) {
			missing = append([]string{parent}, missing...)
		}
		for _, parent := range missing {
			if err := add(File{Name: parent, Mode: fs.ModeDir | 0o755}); err != nil {
				return nil, fmt.Errorf("%s: %w", parent, err)
			}
		}
		if err := add(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	err := archive.Close()
	return layer.Bytes(), err
}

func (w *writer) document(mediaType string, value any) descriptor {
	return w.blob(mediaType, w.encode(value))
}

func (w *writer) encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil && w.err == nil {
		w.err = err
	}
	return text
}

func (w *writer) blob(mediaType string, content []byte) descriptor {
	name := digest(content)
	w.file("blobs/"+strings.Replace(name, ":", "/", 1), content)
	return descriptor{MediaType: mediaType, Digest: name, Size: len(content)}
}

func (w *writer) file(name string, content []byte) {
	if w.err != nil {
		return
	}
	to := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.err = os.MkdirAll(filepath.Dir(to), 0o755); w.err == nil { //nolint:gosec // it is published
		w.err = os.WriteFile(to, content, 0o644) //nolint:gosec // the same
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

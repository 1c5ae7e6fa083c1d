// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/buildtool/ocilayout"
)

// Paths and the user of the images. The user has no rights and no shell, and needs none.
const (
	imageUser = 65532
	imageHome = "/home/nonroot"
	imageWork = "/work"
)

// caBundles are the places of the certificates of authorities, by distribution.
var caBundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

// product is a program of a release that has an image.
type product struct {
	name, description, documentation string
	licences                         string // the file with licence texts, below .cache/release
}

var products = []product{
	{"cairn", "Runs the Terraform Stacks language", "https://github.com/cairnstacks/cairn#readme", "LICENSES.txt"},
	{
		"cairn-server", "Runs Temporal for cairn, for development and small teams",
		"https://github.com/cairnstacks/cairn/blob/main/docs/server.md", "cairn-server/LICENSES.txt",
	},
}

// images writes the images of a release into the directory "images" of that, which GoReleaser has
// made: below it, a directory for each program that the release has, as an OCI layout for all
// architectures. It returns the path of that directory.
//
// They are made of nothing but a program and some files, and not on top of another image: whoever
// pulls one gets nothing else, and it can be made without a registry.
func images(dist string) (string, error) {
	release, err := readRelease(dist)
	if err != nil {
		return "", err
	}
	certificates, err := caCertificates()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dist, "images")
	if err := os.RemoveAll(out); err != nil {
		return "", err
	}
	for _, p := range products {
		var all []ocilayout.Image
		for _, program := range release.programs[p.name] {
			binary, err := os.ReadFile(program.path)
			if err != nil {
				return "", err
			}
			texts, err := os.ReadFile(filepath.Join(filepath.Dir(dist), ".cache", "release", filepath.FromSlash(p.licences)))
			if err != nil {
				return "", err
			}
			all = append(all, p.image(release, program.arch, imageFiles{binary, certificates, texts}))
		}
		if len(all) == 0 {
			continue
		}
		if err := ocilayout.Write(filepath.Join(out, p.name), all); err != nil {
			return "", err
		}
	}
	return out, nil
}

// imageFiles are the contents of files in an image.
type imageFiles struct{ binary, certificates, licences []byte }

// image is the image for one architecture.
func (p product) image(release release, arch string, files imageFiles) ocilayout.Image {
	owner := ocilayout.Owner{UID: imageUser, GID: imageUser}
	return ocilayout.Image{
		Architecture: arch,
		Created:      release.date,
		Files: []ocilayout.File{
			{Name: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
			{Name: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/:/sbin/nologin\n" +
				"nonroot:x:65532:65532:nonroot:" + imageHome + ":/sbin/nologin\n")},
			{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Content: files.certificates},
			// Anybody may write there, as --user can name another user than the image's.
			{Name: strings.TrimPrefix(imageHome, "/"), Mode: fs.ModeDir | fs.ModeSticky | 0o777, Owner: owner},
			{Name: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
			{Name: "usr/bin/" + p.name, Mode: 0o755, Content: files.binary},
			{Name: "usr/share/doc/" + p.name + "/LICENSES.txt", Mode: 0o644, Content: files.licences},
			{Name: strings.TrimPrefix(imageWork, "/"), Mode: fs.ModeDir | 0o755, Owner: owner},
		},
		Config: ocilayout.Config{
			User:       fmt.Sprintf("%d:%d", imageUser, imageUser),
			Env:        []string{"PATH=/usr/bin", "HOME=" + imageHome, "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			Entrypoint: []string{"/usr/bin/" + p.name},
			Cmd:        []string{"-h"},
			WorkingDir: imageWork,
			Labels: map[string]string{
				"org.opencontainers.image.title":         p.name,
				"org.opencontainers.image.description":   p.description,
				"org.opencontainers.image.source":        "https://github.com/cairnstacks/cairn",
				"org.opencontainers.image.documentation": p.documentation,
				"org.opencontainers.image.licenses":      "MPL-2.0",
				"org.opencontainers.image.version":       release.version,
				"org.opencontainers.image.revision":      release.commit,
			},
		},
	}
}

// release is the part of a release that the images are made of.
type release struct {
	version, commit string
	date            time.Time                   // of the commit
	programs        map[string][]releaseProgram // for linux, by the names of their files
}

type releaseProgram struct{ arch, path string }

// readRelease reads the files in which GoReleaser says what it has made.
func readRelease(dist string) (release, error) {
	var metadata struct {
		Version, Commit string
	}
	var artifacts []struct {
		Type, Path, Goos, Goarch string
	}
	for name, into := range map[string]any{"metadata.json": &metadata, "artifacts.json": &artifacts} {
		text, err := os.ReadFile(filepath.Join(dist, name))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return release{}, fmt.Errorf("the description of the release: %w", err)
		}
	}
	found := release{version: metadata.Version, commit: metadata.Commit, programs: map[string][]releaseProgram{}}
	for _, a := range artifacts {
		if a.Type != "Binary" || a.Goos != "linux" {
			continue
		}
		path := filepath.Join(filepath.Dir(dist), a.Path)
		info, err := os.Stat(path)
		if err != nil {
			return release{}, err
		}
		found.date = info.ModTime().UTC() // which GoReleaser sets to that of the commit
		name := filepath.Base(path)
		found.programs[name] = append(found.programs[name], releaseProgram{a.Goarch, path})
	}
	if len(found.programs) == 0 {
		return release{}, errors.New("the release has no program for linux")
	}
	return found, nil
}

// caCertificates are those of this machine.
func caCertificates() ([]byte, error) {
	for _, path := range caBundles {
		if content, err := os.ReadFile(path); err == nil {
			return content, nil
		}
	}
	return nil, fmt.Errorf("there are no certificates of authorities in %s", strings.Join(caBundles, ", "))
}

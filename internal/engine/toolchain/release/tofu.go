// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/go-version"
	"github.com/opentofu/tofudl"
	"github.com/opentofu/tofudl/branding"
)

// tofu fetches releases in the layout that OpenTofu's own tool for mirrors has. That tool's module
// verifies them; which versions there are is read here, because it gives up at the first one whose
// number it does not understand.
type tofu struct {
	mirror, key string
	client      *http.Client
}

// maxIndex limits the list of versions, maxBinary a binary.
const (
	maxIndex  = 16 << 20
	maxBinary = branding.MaximumUncompressedFileSize
)

func (t tofu) versions(ctx context.Context) ([]*version.Version, error) {
	listed, err := t.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []*version.Version
	for _, l := range listed {
		if v, err := version.NewVersion(string(l.ID)); err == nil {
			all = append(all, v)
		}
	}
	return all, nil
}

// list returns the server's list of versions.
func (t tofu) list(ctx context.Context) ([]tofudl.VersionWithArtifacts, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	url := branding.DefaultDownloadAPIURL
	if t.mirror != "" {
		url = t.mirror + "/tofu/api.json"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %q for %s", resp.Status, url)
	}
	var response tofudl.APIResponse
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxIndex)).Decode(&response); err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	return response.Versions, nil
}

func (t tofu) fetch(ctx context.Context, v *version.Version, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	listed, err := t.find(ctx, v)
	if err != nil {
		return err
	}
	downloader, err := tofudl.New(t.options()...)
	if err != nil {
		return err
	}
	archive, err := verifiedArchive(ctx, downloader, listed)
	if err != nil {
		return err
	}
	return unpack(archive, filepath.Join(dir, branding.PlatformBinaryName))
}

// options makes tofudl use our server, key and client. Its own client would change the default one
// of the process.
func (t tofu) options() []tofudl.ConfigOpt {
	options := []tofudl.ConfigOpt{tofudl.ConfigHTTPClient(t.client)}
	if t.mirror != "" {
		options = append(options, tofudl.ConfigDownloadMirrorURLTemplate(templateText(t.mirror)+"/tofu/v{{ .Version }}/{{ .Artifact }}"))
	}
	if t.key != "" {
		options = append(options, tofudl.ConfigGPGKey(t.key))
	}
	return options
}

// templateText returns a template that yields the text.
func templateText(text string) string { return fmt.Sprintf("{{ %q }}", text) }

func (t tofu) find(ctx context.Context, v *version.Version) (tofudl.VersionWithArtifacts, error) {
	listed, err := t.list(ctx)
	if err != nil {
		return tofudl.VersionWithArtifacts{}, err
	}
	for _, l := range listed {
		if l.ID == tofudl.Version(v.String()) {
			return l, nil
		}
	}
	return tofudl.VersionWithArtifacts{}, fmt.Errorf("there is no release %s", v)
}

// verifiedArchive downloads the archive for this platform. tofudl's own function for that hides
// errors behind a wrong checksum.
func verifiedArchive(ctx context.Context, downloader tofudl.Downloader, listed tofudl.VersionWithArtifacts) ([]byte, error) {
	prefix := branding.ArtifactPrefix + string(listed.ID)
	name := fmt.Sprintf("%s_%s_%s.tar.gz", prefix, runtime.GOOS, runtime.GOARCH)
	var contents [3][]byte
	for i, file := range []string{prefix + "_SHA256SUMS", prefix + "_SHA256SUMS.gpgsig", name} {
		content, err := downloader.DownloadArtifact(ctx, listed, file)
		var missing *tofudl.NoSuchArtifactError
		switch {
		case errors.As(err, &missing) && file == name:
			return nil, fmt.Errorf("the release has no archive for %s_%s", runtime.GOOS, runtime.GOARCH)
		case err != nil:
			return nil, fmt.Errorf("downloading %s: %w", file, err)
		}
		contents[i] = content
	}
	if err := downloader.VerifyArtifact(name, contents[2], contents[0], contents[1]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnverified, err)
	}
	return contents[2], nil
}

// unpack takes the binary out of an archive.
func unpack(archive []byte, path string) error {
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return fmt.Errorf("unpacking the archive: %w", err)
	}
	for files := tar.NewReader(uncompressed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("unpacking the archive: there is no file %s", filepath.Base(path))
		}
		if err != nil {
			return fmt.Errorf("unpacking the archive: %w", err)
		}
		if header.Name == filepath.Base(path) && header.Typeflag == tar.TypeReg {
			return writeBinary(path, files)
		}
	}
}

func writeBinary(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(content, maxBinary))
	if err == nil && n == maxBinary {
		err = errors.New("unpacking the archive: the binary is too large")
	}
	return errors.Join(err, file.Close())
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Registry are the registries that the addresses of providers name.
type Registry struct {
	Client *registry.Client

	// OfficialKey is the fingerprint of the key of official packages, for tests; "" stands for that of
	// HashiCorp.
	OfficialKey string

	// Keyless is the host of a registry that may know no key of a publisher: packages without one are
	// checked by their checksums alone. "" for none.
	Keyless string
}

var _ Source = Registry{}

func (r Registry) request(ctx context.Context, provider stackaddrs.Provider, below, what string, target any) (*url.URL, error) {
	host, err := svchost.ForComparison(provider.Hostname)
	if err != nil {
		return nil, fmt.Errorf("%q is not a host name: %w", provider.Hostname, err)
	}
	resp, err := r.Client.Request(ctx, host, registry.Providers, path.Join(provider.Namespace, provider.Type, below), what)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, registry.StatusError(resp)
	}
	return resp.Request.URL, registry.Decode(ctx, resp, target)
}

// Versions implements [Source].
func (r Registry) Versions(ctx context.Context, provider stackaddrs.Provider) (*Available, error) {
	var answer struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
		Warnings []string `json:"warnings"`
	}
	_, err := r.request(ctx, provider, "versions", "provider "+release.Short(provider), &answer)
	if notFound, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil, &missingError{ErrNoProvider, notFound.Error()}
	}
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, v := range answer.Versions {
		texts = append(texts, v.Version)
	}
	return newAvailable(texts, answer.Warnings), nil
}

// download is the answer of a registry about a package.
type download struct {
	Protocols    []string `json:"protocols"`
	OS           string   `json:"os"`
	Arch         string   `json:"arch"`
	Filename     string   `json:"filename"`
	DownloadURL  string   `json:"download_url"`
	SumsURL      string   `json:"shasums_url"`
	SignatureURL string   `json:"shasums_signature_url"`
	Sum          string   `json:"shasum"`
	SigningKeys  struct {
		GPG []struct {
			ASCIIArmor string `json:"ascii_armor"`
		} `json:"gpg_public_keys"`
	} `json:"signing_keys"`
}

// Package implements [Source]. The checksums and their signature are fetched and checked here
// already.
func (r Registry) Package(ctx context.Context, id release.ID, platform release.Platform) (*Package, error) {
	var answer download
	what := fmt.Sprintf("package of provider %s for %s", id, platform)
	base, err := r.request(ctx, id.Provider, path.Join(id.Version.String(), "download", platform.OS, platform.Arch), what, &answer)
	if notFound, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil, &missingError{ErrNoPackage, notFound.Error()}
	}
	if err != nil {
		return nil, err
	}
	if err := answer.check(platform); err != nil {
		return nil, fmt.Errorf("the registry %s gives a %s that cannot be used: %w", id.Provider.Hostname, what, err)
	}
	location, err := base.Parse(answer.DownloadURL)
	if err != nil {
		return nil, fmt.Errorf("the registry %s gives a %s whose address cannot be read", id.Provider.Hostname, what)
	}
	var signed *Signed
	if len(answer.SigningKeys.GPG) > 0 || r.Keyless != id.Provider.Hostname {
		if signed, err = r.signed(ctx, base, &answer); err != nil {
			return nil, fmt.Errorf("the %s cannot be trusted: %w", what, err)
		}
	}
	return &Package{
		ID:       id,
		Platform: platform,
		client:   r.Client,
		archive:  location,
		Signed:   signed,
		hashes:   []release.Hash{release.Hash(release.ArchiveScheme + ":" + answer.Sum)},
	}, nil
}

// check reports an answer that this program cannot use.
func (d *download) check(platform release.Platform) error {
	if given := (release.Platform{OS: d.OS, Arch: d.Arch}); given != platform {
		return fmt.Errorf("it is for %q", given)
	}
	supported := func(protocol string) bool {
		major, _, _ := strings.Cut(protocol, ".")
		return major == "5" || major == "6"
	}
	if len(d.Protocols) > 0 && !slices.ContainsFunc(d.Protocols, supported) {
		return fmt.Errorf("it has protocol %s of providers, and only 5 and 6 are supported: choose another version",
			strings.Join(d.Protocols, ", "))
	}
	if sum, err := hex.DecodeString(d.Sum); err != nil || len(sum) != 32 {
		return errors.New("its checksum is not a SHA-256 sum")
	}
	d.Sum = strings.ToLower(d.Sum)
	return nil
}

// signed fetches the list of checksums of a release, and returns it if a key of the registry has
// signed it, and if the package is in it (rule S1).
func (r Registry) signed(ctx context.Context, base *url.URL, answer *download) (*Signed, error) {
	sums, err := r.fetch(ctx, base, answer.SumsURL, "the list of checksums")
	if err != nil {
		return nil, err
	}
	signature, err := r.fetch(ctx, base, answer.SignatureURL, "the signature of the list of checksums")
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, key := range answer.SigningKeys.GPG {
		keys = append(keys, key.ASCIIArmor)
	}
	signed, err := checkSignature(sums, signature, keys, cmp.Or(r.OfficialKey, officialKey))
	if err != nil {
		return nil, err
	}
	found := ""
	for name, sum := range parseSums(sums) {
		signed.Hashes = append(signed.Hashes, release.Hash(release.ArchiveScheme+":"+sum))
		if name == answer.Filename {
			found = sum
		}
	}
	slices.Sort(signed.Hashes)
	signed.Hashes = slices.Compact(signed.Hashes)
	switch found {
	case "":
		return nil, fmt.Errorf("the list of checksums does not have %q", answer.Filename)
	case answer.Sum:
		return signed, nil
	default:
		return nil, fmt.Errorf("the list of checksums has another checksum of %q than the registry", answer.Filename)
	}
}

func (r Registry) fetch(ctx context.Context, base *url.URL, written, what string) ([]byte, error) {
	location, err := base.Parse(written)
	if err != nil || written == "" {
		return nil, fmt.Errorf("the registry gives no address of %s", what)
	}
	resp, err := r.Client.Open(ctx, location, what)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	return registry.ReadAll(ctx, resp)
}

// parseSums returns the checksums in a list, by the names of files. Other lines are left out.
func parseSums(list []byte) map[string]string {
	sums := map[string]string{}
	scanner := bufio.NewScanner(bytes.NewReader(list))
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) != 2 {
			continue
		}
		if sum, err := hex.DecodeString(fields[0]); err == nil && len(sum) == 32 {
			sums[strings.TrimPrefix(fields[1], "*")] = strings.ToLower(fields[0])
		}
	}
	return sums
}

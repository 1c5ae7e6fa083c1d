// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"runtime"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/cairnstacks/cairn/internal/encryption/agekeys"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

const (
	ageEnding = ".age"
	ageIntro  = "age-encryption.org/v1"

	// keyFileVariable and keysVariable name and hold age identities, for sops as well as here.
	keyFileVariable = "SOPS_AGE_KEY_FILE"
	keysVariable    = "SOPS_AGE_KEY"
)

// isAgeEncrypted reports whether a file is encrypted with age, in binary or in armor.
func isAgeEncrypted(content []byte) bool {
	return bytes.HasPrefix(content, []byte(ageIntro)) || isArmored(content)
}

func isArmored(content []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(content), []byte(armor.Header))
}

// fromAge decrypts a file that is encrypted with age.
func (r *reader) fromAge(content []byte) ([]byte, error) {
	identities, place, err := r.identities()
	if err != nil {
		return nil, err
	}
	var encrypted io.Reader = bytes.NewReader(content)
	if isArmored(content) {
		encrypted = armor.NewReader(encrypted)
	}
	plain, err := age.Decrypt(encrypted, identities...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, r.fail("Variable set not decrypted",
			"The file %s is encrypted with age for other keys than those in %s. Name the right file of keys by key_file, or "+
				"encrypt the values for one of these keys, too.", r.block.File, place)
	}
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(plain, maxSize+1))
	}
	switch {
	case err != nil:
		return nil, r.fail("Variable set not decrypted", "The file %s is encrypted with age, and damaged.", r.block.File)
	case len(content) > maxSize:
		return nil, r.fail("Variable set too large", "The file %s has more than %d bytes. Is it the right one?", r.block.File, maxSize)
	}
	return content, nil
}

// identities returns the keys that a file may be encrypted for, and where they are.
func (r *reader) identities() (identities []age.Identity, place string, err error) {
	name := r.keyFile()
	var content []byte
	switch keys := environ.Get(r.environ, keysVariable); {
	case name == "" && keys == "":
		return nil, "", r.fail("Missing age key",
			"The file %s is encrypted with age. Name a file with the key: by key_file in this block, or by %s in the environment.",
			r.block.File, keyFileVariable)
	case name == "":
		content, place = []byte(keys), "the environment variable "+keysVariable
	default:
		if content, err = r.readKeys(name); err != nil {
			return nil, "", err
		}
		place = "the file " + name
	}
	identities, _, err = agekeys.Parse(content)
	if err != nil { // which may quote a key
		return nil, "", r.fail("Unusable age key",
			"In %s are no keys of age. It has to have lines that begin with AGE-SECRET-KEY-, as age-keygen writes them.", place)
	}
	return identities, place, nil
}

// keyFile returns the file with the keys, as the settings or the environment say; "" for none.
func (r *reader) keyFile() string {
	if r.block.KeyFile != "" {
		return r.block.KeyFile
	}
	return environ.Get(r.environ, keyFileVariable)
}

func (r *reader) readKeys(name string) ([]byte, error) {
	content, mode, err := r.readFile(name)
	switch {
	case err != nil:
		return nil, r.fail("Unusable age key", "The file of keys %s cannot be read: %s.", name, safefile.Reason(err))
	case len(content) > maxSize:
		return nil, r.fail("Unusable age key", "The file of keys %s has more than %d bytes. Is it the right one?", name, maxSize)
	case runtime.GOOS != "windows" && mode.Perm()&0o044 != 0:
		r.warnings.Add(failure.WarningAt(r.block.Range, "Secrets readable by others",
			"Others on this machine may read the keys in %s. Take that from them: chmod 600 %s", name, name))
	}
	return content, nil
}

var (
	sopsYAML = regexp.MustCompile(`(?m)^sops:\s*$`)
	sopsEnv  = regexp.MustCompile(`(?m)^sops_mac=`)
)

// isSopsEncrypted reports whether a file has the metadata that sops puts next to values.
func isSopsEncrypted(content []byte, written format) bool {
	switch written {
	case formatYAML:
		return sopsYAML.Match(content)
	case formatEnv:
		return sopsEnv.Match(content)
	case formatJSON:
		var document struct {
			Sops struct {
				MAC string `json:"mac"`
			} `json:"sops"`
		}
		return json.Unmarshal(content, &document) == nil && document.Sops.MAC != ""
	}
	return false
}

// sopsFormats are the names that sops has for formats.
var sopsFormats = map[format]string{formatYAML: "yaml", formatEnv: "dotenv", formatJSON: "json"}

// fromSops has the program sops decrypt the file of the set, whose keys may be anywhere. It writes
// JSON.
func (r *reader) fromSops(ctx context.Context, written format) ([]byte, error) {
	program, err := exec.LookPath("sops")
	if err != nil {
		return nil, r.fail("Missing program sops",
			"The file %s is encrypted with sops, which is not on PATH. Install it, or encrypt the values with age alone.", r.block.File)
	}
	var env []string
	if r.block.KeyFile != "" {
		env = []string{keyFileVariable + "=" + r.path(r.block.KeyFile)}
	}
	return r.output(ctx, invocation{
		command: []string{program, "--decrypt", "--input-type", sopsFormats[written], "--output-type", "json", r.path(r.block.File)}, env: env,
		failed: "Variable set not decrypted", does: "which is to decrypt the file " + r.block.File,
	})
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// KeptOptions are the parameters of [KeptSchemas].
type KeptOptions struct {
	StackDir           string
	WorkDir, SchemaDir string // as in [Options]
}

// KeptSchemas returns what is known of installed providers without starting or reading any of them: the schemas that earlier operations have kept, of
// the engine that was last used with the working directory. What is not known is left out, for whatever reason.
func KeptSchemas(ctx context.Context, opts KeptOptions) map[stackaddrs.Provider]*engine.ProviderSchema {
	engines := toolchain.Remembered(RecordFile(opts.WorkDir))
	if len(engines) == 0 {
		return nil
	}
	if opts.SchemaDir == "" {
		opts.SchemaDir = filepath.Join(opts.WorkDir, "schemas")
	}
	session := &Session{
		info: engines[0], stackDir: opts.StackDir, workDir: opts.WorkDir, installation: installationIn(opts.WorkDir),
		shared: &Shared{}, schemaCache: schemacache.In(opts.SchemaDir), log: slog.New(slog.DiscardHandler),
	}
	installed, err := session.installed()
	if err != nil {
		return nil
	}
	hashes := session.rememberedHashes(installed)
	schemas := map[stackaddrs.Provider]*engine.ProviderSchema{}
	for _, one := range installed {
		provider, err := session.parseProvider(one.source())
		if err != nil {
			continue
		}
		if kept, err := session.keptSchema(ctx, session.schemaKey(hashes[one.path])); err == nil {
			schemas[provider] = &engine.ProviderSchema{Config: describeBlock(kept.config)}
		}
	}
	return schemas
}

// rememberedHashes returns the hashes of packages that are as they were when they were last hashed, by path.
func (e *Session) rememberedHashes(installed []installedProvider) map[string]string {
	known := map[string]packageRecord{}
	data, err := os.ReadFile(e.installation.packages)
	if err != nil || json.Unmarshal(data, &known) != nil {
		return nil
	}
	hashes := map[string]string{}
	for _, one := range installed {
		if now, err := packageFingerprint(one.target); err == nil && known[one.path].Fingerprint == now.Fingerprint {
			hashes[one.path] = known[one.path].Hash
		}
	}
	return hashes
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"cmp"
	"strings"

	"github.com/cairnstacks/cairn/internal/enginelog"
)

// LogEnvironment returns the variables that make the engine write the log that the environment asks
// for, none if it does not. The file is made here.
//
// Errors: an [*enginelog.FileError].
func LogEnvironment(environ []string, workDir string) (map[string]string, error) {
	request := enginelog.Read(environ)
	if !request.Asked() {
		return nil, nil
	}
	file, err := request.Open(workDir)
	if err != nil {
		return nil, err
	}
	asked := map[string]string{}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); value != "" && strings.HasPrefix(name, "TF_LOG") {
			asked[name] = value
		}
	}
	asked[enginelog.PathVariable] = file.Name()
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK"} { // otherwise the runner makes them quiet
		asked[name] = cmp.Or(asked[name], request.LevelOfProviders())
	}
	return asked, file.Close()
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// logVariable is the environment variable with which a user asks the engine for its log.
const logVariable = "TF_LOG"

// LogFile is the name of the log that the engine writes in its working directory, if one is asked for without TF_LOG_PATH.
//
// Its standard error is not a place for that: many processes run at the same time, and what they write there is read for errors.
const LogFile = "engine.log"

// LogEnvironment returns the variables that make the engine write the log that the environment asks for, none if it does not.
//
// The file is made here, for its owner alone: a log has values in it.
func LogEnvironment(environ []string, workDir string) (map[string]string, error) {
	asked := map[string]string{}
	level := ""
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || name != logVariable && !strings.HasPrefix(name, logVariable+"_") {
			continue
		}
		asked[name] = value
		if name == logVariable || name == "TF_LOG_CORE" || name == "TF_LOG_PROVIDER" {
			level = cmp.Or(level, value)
		}
	}
	if level == "" {
		return nil, nil
	}
	path := cmp.Or(asked["TF_LOG_PATH"], filepath.Join(workDir, LogFile))
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	asked["TF_LOG_PATH"] = path
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK"} { // otherwise the runner makes them quiet
		asked[name] = cmp.Or(asked[name], level)
	}
	return asked, errors.Join(err, file.Close())
}

// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	got := Environ([]string{
		"PATH=/bin", "EMPTY=", "EQUALS=a=b", "TF_CLI_ARGS=-x", "TF_CLI_ARGS_plan=-x", "TF_VAR_a=1", "CAIRN_VAR_a=1", "TF_WORKSPACE=w",
		"TF_LOG=TRACE", "TF_LOG_PATH=/x", "TF_LOG_SDK=TRACE", "TF_REATTACH_PROVIDERS={}", "TF_INPUT=1",
		"TF_CLI_CONFIG_FILE=/rc", "TF_PLUGIN_CACHE_DIR=/cache", "PATH=/usr/bin", "no equals sign", "",
	}, map[string]string{"TF_DATA_DIR": "/data", "TF_VAR_b": "2", "TF_REATTACH_PROVIDERS": "ours"})
	want := []string{
		"CHECKPOINT_DISABLE=1", "EMPTY=", "EQUALS=a=b", "GOGC=400", "PATH=/usr/bin", "TF_CLI_CONFIG_FILE=/rc",
		"TF_DATA_DIR=/data", "TF_INPUT=0", "TF_IN_AUTOMATION=1", "TF_LOG_SDK=ERROR", "TF_LOG_SDK_FRAMEWORK=ERROR",
		"TF_LOG_SDK_PROTO=ERROR", "TF_PLUGIN_CACHE_DIR=/cache", "TF_REATTACH_PROVIDERS=ours", "TF_VAR_b=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Environ (-want +got):\n%s", diff)
	}
}

func TestEnvironKeepsGOGC(t *testing.T) {
	for _, c := range []struct {
		base  []string
		extra map[string]string
		want  string
	}{
		{nil, nil, "GOGC=400"},
		{[]string{"GOGC=50"}, nil, "GOGC=50"},
		{[]string{"GOGC=50"}, map[string]string{"GOGC": "off"}, "GOGC=off"},
	} {
		got := Environ(c.base, c.extra)
		i := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "GOGC=") })
		if i < 0 || got[i] != c.want {
			t.Errorf("Environ(%q, %v) = %q, want %s in it", c.base, c.extra, got, c.want)
		}
	}
}

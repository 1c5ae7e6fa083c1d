// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var timestampFunction = functionOf(cty.String, "Returns the current time (UTC, RFC 3339).", nil,
	func([]cty.Value) (cty.Value, error) {
		return formatTime(time.Now()), nil
	})

func planTimestampFunction(planned time.Time) function.Function {
	return functionOf(cty.String, "Returns the time of the plan (UTC, RFC 3339).", nil,
		func([]cty.Value) (cty.Value, error) {
			if planned.IsZero() {
				return cty.UnknownVal(cty.String), nil
			}
			return formatTime(planned), nil
		})
}

func formatTime(t time.Time) cty.Value {
	return cty.StringVal(t.UTC().Format(time.RFC3339))
}

var timeCompareFunction = functionOf(cty.Number, "Compares two times: -1, 0 or 1.",
	[]function.Parameter{{Name: "timestamp_a", Type: cty.String}, {Name: "timestamp_b", Type: cty.String}},
	func(args []cty.Value) (cty.Value, error) {
		var times [2]time.Time
		for i, arg := range args {
			parsed, err := time.Parse(time.RFC3339, arg.AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "not a time in RFC 3339 form, like 2006-01-02T15:04:05Z")
			}
			times[i] = parsed
		}
		return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
	})

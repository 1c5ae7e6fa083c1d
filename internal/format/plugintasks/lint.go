// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
)

// Convention lists the purposes of numbers, in ranges of a thousand from 0.
type Convention []string

// The conventions: that of the document which introduced the numbers, and that of its final
// version. "" is reserved.
var (
	Original = Convention{hardware, "", disks, "", network, software, "", "", monitoring}
	Final    = Convention{hardware, "", disks, "", network, "", software, "", monitoring}
)

const (
	hardware   = "configuration of hardware"
	disks      = "disk partitions and volumes"
	network    = "configuration of the network"
	software   = "deployment of software"
	monitoring = "monitoring services"
)

// CodeReservedRange is a number that the convention has not given to anybody.
const CodeReservedRange problem.Code = "order/reserved-range"

// Meaning returns the purpose of a number. Ok is false if the convention says nothing about it;
// meaning is "" in a reserved range.
func (c Convention) Meaning(number float64) (meaning string, ok bool) {
	if number < 0 || number >= float64(len(c))*1000 {
		return "", false
	}
	return c[int(number)/1000], true
}

// Lint warns of tasks whose numbers are in reserved ranges. It never keeps anything from being run.
func Lint(tasks []*Task, convention Convention) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, task := range tasks {
		meaning, ok := convention.Meaning(task.Value)
		if !ok || meaning != "" {
			continue
		}
		from := int(task.Value) / 1000 * 1000
		diags = diags.Append(problem.Warning(CodeReservedRange, task.at, "Number in a reserved range",
			"By convention the numbers %d to %d are reserved: other plugins expect nothing there. Choose a number of a range that fits: %s.",
			from, from+999, convention.ranges()))
	}
	return diags
}

func (c Convention) ranges() string {
	var used []string
	for i, meaning := range c {
		if meaning != "" {
			used = append(used, fmt.Sprintf("%d–%d %s", i*1000, i*1000+999, meaning))
		}
	}
	return strings.Join(used, ", ")
}

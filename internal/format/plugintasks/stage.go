// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Stage is when a task is done, relative to the deployment.
type Stage string

// The stages, in their order.
const (
	Pre  Stage = "pre_deployment"
	Post Stage = "post_deployment"
)

// Mode is the treatment of mistakes that could be read nevertheless.
type Mode int

// Modes of reading.
const (
	Strict  Mode = iota // a number that is none is an error
	Lenient             // it is a warning, and 0
)

var (
	accepted = regexp.MustCompile(`^(post_deployment|pre_deployment)(/[-+]?([0-9]*\.[0-9]+|[0-9]+))?$`)

	// separated is a stage with something behind it that is not a slash, and perhaps a number.
	separated = regexp.MustCompile(`^(post_deployment|pre_deployment)([^0-9A-Za-z]*?)(?:(\.?[0-9][0-9.]*).*|[A-Za-z].*|$)$`)
	slashed   = regexp.MustCompile(`^(post_deployment|pre_deployment)/(.*)$`)
)

// parseStage parses the text after "stage:".
func parseStage(text string, at *hcl.Range, mode Mode) (Stage, float64, *hcl.Diagnostic) {
	if match := accepted.FindStringSubmatch(text); match != nil {
		if match[2] == "" {
			return Stage(match[1]), 0, nil
		}
		number, err := strconv.ParseFloat(match[2][1:], 64)
		if err == nil && !math.IsInf(number, 0) {
			return Stage(match[1]), number, nil
		}
	}
	if match := slashed.FindStringSubmatch(text); match != nil {
		report, effect := problem.New, ""
		if mode == Lenient {
			report, effect = problem.Warning, " The task is taken to have the number 0."
		}
		return Stage(match[1]), 0, report(problem.BadNumber, at, "Invalid stage number",
			"After the slash of %q there must be a number such as 100, -99.9 or .5, without an exponent.%s", text, effect)
	}
	if diag := badSeparator(text, at); diag != nil {
		return "", 0, diag
	}
	return "", 0, problem.New(problem.BadStage, at, "Invalid stage",
		"There is no stage %q: write pre_deployment or post_deployment, with a slash and a number behind it if the place "+
			"among other tasks matters, such as \"post_deployment/100\".%s",
		text, nearest.DidYouMean(text, []string{string(Pre), string(Post)}))
}

// badSeparator reports a number that does not follow a slash; nil if there is none.
func badSeparator(text string, at *hcl.Range) *hcl.Diagnostic {
	match := separated.FindStringSubmatch(text)
	if match == nil {
		return nil
	}
	separator, number := match[2], match[3]
	if last := len(separator) - 1; number != "" && last > 0 && (separator[last] == '-' || separator[last] == '+') {
		separator, number = separator[:last], separator[last:]+number
	}
	if digits, ok := strings.CutPrefix(number, "."); ok && separator == "" {
		separator, number = ".", digits
	}
	separator = strings.TrimSpace(separator)
	not := fmt.Sprintf(", not %q", separator)
	switch {
	case separator == "" && number == "":
		return nil
	case separator == "" || separator == "/": // without a separator, or with spaces before the slash
		not = " and nothing else"
	}
	return problem.New(problem.BadStage, at, "Invalid stage separator",
		"Between the stage and its number there must be a slash%s. Write \"%s/%s\".", not, match[1], cmp.Or(number, "100"))
}

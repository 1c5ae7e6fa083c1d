// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"math"
	"time"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Retry says how often a call is made until its result is the one that is wanted. The zero value is
// once.
type Retry struct {
	Attempts        int // at most; 0 stands for 1
	UntilFailure    bool
	Interval, Splay time.Duration // between attempts, and by how much that is lengthened at random at most
}

// retry reads the argument "retry": true for the defaults, or a mapping of the differences from
// them.
func (c *compiler) retry(arg Arg) Retry {
	r := Retry{Attempts: 2, Interval: 30 * time.Second}
	switch value := arg.Value.(type) {
	case bool:
		if value {
			return r
		}
		return Retry{}
	case *Map:
		for _, entry := range value.Entries {
			c.retryEntry(&r, entry, arg)
		}
	default:
		c.problem(problem.Syntax, arg.Range, "Invalid retry",
			"The argument \"retry\" must be true, or a mapping with attempts, until, interval and splay; this is a %s.", kindOf(value))
	}
	return r
}

func (c *compiler) retryEntry(r *Retry, entry Entry, arg Arg) {
	invalid := func(what string) {
		c.problem(problem.Syntax, arg.Range, "Invalid retry", "The entry %q of \"retry\" must be %s.", entry.Key, what)
	}
	switch entry.Key {
	case "attempts":
		attempts, ok := entry.Value.(int64)
		if !ok || attempts < 1 || attempts > math.MaxInt32 {
			invalid("a whole number of 1 or more")
			return
		}
		r.Attempts = int(attempts)
	case "until":
		until, ok := entry.Value.(bool)
		if !ok {
			invalid("true or false: the result that ends the attempts")
			return
		}
		r.UntilFailure = !until
	case "interval", "splay":
		duration, ok := secondsOf(entry.Value)
		if !ok {
			invalid("a number of seconds of 0 or more")
			return
		}
		if entry.Key == "interval" {
			r.Interval = duration
		} else {
			r.Splay = duration
		}
	default:
		c.problem(problem.UnknownKey, arg.Range, "Invalid retry", "\"retry\" has no entry %q.%s It has attempts, until, interval and splay.",
			entry.Key, nearest.DidYouMean(entry.Key, []string{"attempts", "until", "interval", "splay"}))
	}
}

func secondsOf(value any) (time.Duration, bool) {
	var number float64
	switch value := value.(type) {
	case int64:
		number = float64(value)
	case float64:
		number = value
	default:
		return 0, false
	}
	const most = 1e9
	return time.Duration(number * float64(time.Second)), number >= 0 && number <= most
}

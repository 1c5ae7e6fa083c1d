// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command bench measures cairn and prints the results as Markdown. "make bench" runs it;
// docs/performance.md has the results, and explains them.
//
// The evaluator is measured by the Go benchmarks of package stackruntime, each case in a process of
// its own so that its peak memory is known too. The whole of cairn, with each of its engines, is
// compared with processes of terraform or tofu: the same modules, planned, applied and destroyed by
// a bare loop that does nothing but start them. The ordering of many stacks is measured by Go
// benchmarks of its packages, and by commands in generated repositories.
//
// Rules:
//
//	B1. The sides of a comparison run in turns within the same minutes, and a ratio is the median of
//	    the ratios of single rounds: other work on the machine then hits both sides.
//	B2. A run starts without state, and with everything prepared that is only done once for a stack.
//	B3. Nothing fails for being slow. A run that does not do its work fails.
package main
